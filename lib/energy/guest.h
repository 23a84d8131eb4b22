// SPDX-License-Identifier: Apache-2.0
// A virtual machine's own meter, which its host shares with it (keplerd's [Guests] there, or Scaphandre): a
// directory in the form of /sys/class/powercap, with this machine's part of the host's energy. A package of
// it is a socket of this machine. Its counters stand still for seconds and then tell whole joules.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "energy/energy_source.h"

namespace keplerd {

class HostRoot;

inline constexpr char kDefaultGuestMeter[] = "/run/keplerd-meter";

// The source, with the zones that `names` choose; `meter` is the directory, below `host`'s root. Zones are at
// best attributed, and no better than the meter's file `quality` tells. Fails as open_powercap() does.
Result<std::unique_ptr<EnergySource>> open_guest(const HostRoot& host, const std::vector<std::string>& names,
                                                 const std::string& meter);

// The quality of the zones of a meter whose file `quality` has this text: what it is a share of.
Quality guest_quality(std::string_view text);

// What an administrator can do about a failure of open_guest(); may be empty.
std::string guest_fix(const HostRoot& host, const Error& error);

}  // namespace keplerd
