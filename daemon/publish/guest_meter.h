// SPDX-License-Identifier: Apache-2.0
// Computes the meter of a virtual machine: its energy in whole joules, by virtual socket, and separately for
// memory. Pure.
#pragma once

#include <cstdint>

#include "report/report.h"

namespace keplerd {

inline constexpr std::int64_t kJoule = 1'000'000;  // microjoules

struct GuestMeter {
  int sockets = 1;
  std::int64_t packages = 0;  // joules, all sockets together
  bool has_dram = false;      // the host measures its memory
  std::int64_t dram = 0;

  bool operator==(const GuestMeter&) const = default;
};

// The meter of a VM of `report`; rounded down.
GuestMeter guest_meter(const Report& report, const VmRow& vm);

// The part of `joules` shown for socket `number` of `sockets`: equal parts with an exact sum, none of which
// decreases unless `joules` does.
std::int64_t socket_share(std::int64_t joules, int number, int sockets);

}  // namespace keplerd
