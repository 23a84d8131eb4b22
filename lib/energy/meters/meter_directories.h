// SPDX-License-Identifier: Apache-2.0
// Meters that other programs read: a directory each in /run/keplerd-meters (meter_files.h). Only root may
// create directories there; all files of a meter belong to the owner of its directory. A directory without a
// file `covers` may contain meters itself, for a program that reads several. No link is followed, and nothing
// that is not a small regular file is read.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/units.h"
#include "energy/energy_source.h"

namespace keplerd {

class HostRoot;

inline constexpr char kMeterDirectories[] = "run/keplerd-meters";  // below the host's root
inline constexpr std::size_t kMostMeters = 64;

using BootClock = std::function<Nanoseconds()>;  // CLOCK_BOOTTIME
Nanoseconds boot_time();

// The source "meters", with the zones that `names` choose, possibly none: "NAME:ZONE:INDEX". Meters that come
// later make it outdated.
std::unique_ptr<EnergySource> open_meter_directories(const HostRoot& host,
                                                     const std::vector<std::string>& names,
                                                     BootClock clock = boot_time);

// What is not read there, and why; and the problems that the programs of meters state (keplerd-meters(7)).
std::vector<LeftOut> meters_left_out(const HostRoot& host);

}  // namespace keplerd
