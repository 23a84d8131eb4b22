// SPDX-License-Identifier: Apache-2.0
// Reads the power of this host from its management controller: how, and when again. No I/O of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "meters/ipmi/controller.h"
#include "meters/meter_writer.h"
#include "meters/power_check.h"

namespace keplerd::ipmi {

inline constexpr Nanoseconds kInterval = std::chrono::seconds(5);
inline constexpr Nanoseconds kLongestPause = std::chrono::minutes(5);

struct Poll {
  std::vector<meters::Meter> meters;  // one; none if there is a problem
  std::string problem;
  Nanoseconds pause{0};  // until the next one
};

class Reader {
 public:
  using Clock = std::function<std::int64_t()>;  // CLOCK_BOOTTIME in microseconds

  Reader(Controller& controller, Clock clock) : controller_(controller), clock_(std::move(clock)) {}

  Poll poll();

 private:
  enum class Way { kUnknown, kDcmi, kSensors };

  Result<Microwatts> read();
  Result<Microwatts> read_sensors();

  Controller& controller_;
  Clock clock_;
  Way way_ = Way::kUnknown;
  std::vector<PowerSensor> sensors_;
  meters::PowerCheck check_;
  int failures_ = 0;  // in a row
};

}  // namespace keplerd::ipmi
