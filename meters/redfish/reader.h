// SPDX-License-Identifier: Apache-2.0
// Reads the power of this host's chassis, again and again: when, what of, and what to do if that fails.
// Without I/O: documents come from a function, and so does the time.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "meters/poll.h"
#include "meters/power_check.h"
#include "meters/redfish/discovery.h"
#include "meters/redfish/settings.h"

namespace keplerd::redfish {

// Accounts are locked after a few wrong passwords.
inline constexpr Nanoseconds kAfterRefusal = std::chrono::hours(1);
// Chassis may be added.
inline constexpr Nanoseconds kSearchPeriod = std::chrono::hours(1);

class Reader {
 public:
  Reader(Settings settings, Fetch fetch, meters::Clock clock);

  // The sum of all chassis, as the host's power; and each of them, if there are several. Either all of them
  // are read, or there is a problem: a sum without one of them would be too small.
  meters::Poll poll();

 private:
  struct Watched {
    PoweredChassis chassis;
    meters::PowerCheck check;
  };

  Result<Done> search();
  Result<std::vector<meters::Meter>> read();
  meters::Poll failed(const Error& error);

  Settings settings_;
  Fetch fetch_;
  meters::Clock clock_;
  std::vector<Watched> watched_;
  std::int64_t searched_ = 0;
  meters::Backoff backoff_;
};

}  // namespace keplerd::redfish
