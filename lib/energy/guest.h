// SPDX-License-Identifier: Apache-2.0
// A virtual machine's own meter, which its host shares with it (via keplerd's [Guests] there, or Scaphandre):
// a directory laid out like /sys/class/powercap, with this machine's part of the host's energy. A package in
// it is a socket of this machine. Its counters stand still for seconds and then advance by whole joules.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "energy/energy_source.h"

namespace keplerd {

class HostRoot;

inline constexpr char kDefaultGuestMeter[] = "/run/keplerd-meter";

// Opens the source, with the zones that `names` choose; `meter` is the directory, below `host`'s root. Zones
// are at best attributed, and no better than the meter's file `quality` says. Fails as open_powercap() does.
Result<std::unique_ptr<EnergySource>> open_guest(const HostRoot& host, const std::vector<std::string>& names,
                                                 const std::string& meter);

// The quality of a meter's zones, from the text of its file `quality`: the quality of what it is a share of.
Quality guest_quality(std::string_view text);

// How an administrator can fix a failure of open_guest(); may be empty.
std::string guest_fix(const HostRoot& host, const Error& error);

}  // namespace keplerd
