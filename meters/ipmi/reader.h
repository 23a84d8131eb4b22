// SPDX-License-Identifier: Apache-2.0
// Reads the power of this host from its management controller: how, and when again. No I/O of its own.
#pragma once

#include <utility>
#include <vector>

#include "base/units.h"
#include "meters/ipmi/controller.h"
#include "meters/poll.h"
#include "meters/power_check.h"

namespace keplerd::ipmi {

inline constexpr Nanoseconds kInterval = std::chrono::seconds(5);

class Reader {
 public:
  Reader(Controller& controller, meters::Clock clock) : controller_(controller), clock_(std::move(clock)) {}

  // One meter: the power of the host.
  meters::Poll poll();

 private:
  enum class Way { kUnknown, kDcmi, kSensors };

  Result<Microwatts> read();
  Result<Microwatts> read_sensors();

  Controller& controller_;
  meters::Clock clock_;
  Way way_ = Way::kUnknown;
  std::vector<PowerSensor> sensors_;
  meters::PowerCheck check_;
  meters::Backoff backoff_;
};

}  // namespace keplerd::ipmi
