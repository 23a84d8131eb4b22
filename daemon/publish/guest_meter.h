// SPDX-License-Identifier: Apache-2.0
// What the meter of a virtual machine tells: its energy in whole joules, by virtual socket, and memory's
// apart. Pure.
#pragma once

#include <cstdint>

#include "report/report.h"

namespace keplerd {

inline constexpr std::int64_t kJoule = 1'000'000;  // microjoules

struct GuestMeter {
  int sockets = 1;
  std::int64_t packages = 0;  // joules, together
  bool has_dram = false;      // the host measures its memory
  std::int64_t dram = 0;

  bool operator==(const GuestMeter&) const = default;
};

// Of a VM of `report`; rounded down.
GuestMeter guest_meter(const Report& report, const VmRow& vm);

// The part of `joules` that socket `number` of `sockets` is told: equal ones, which sum exactly, and of which
// none goes back while `joules` does not.
std::int64_t socket_share(std::int64_t joules, int number, int sockets);

}  // namespace keplerd
