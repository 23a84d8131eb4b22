// SPDX-License-Identifier: Apache-2.0
#include "meters/ipmi/reader.h"

#include <cerrno>

namespace keplerd::ipmi {

Result<Microwatts> Reader::read_sensors() {
  Microwatts sum;
  for (const PowerSensor& sensor : sensors_) {
    const auto power = controller_.read_sensor(sensor);
    if (!power) return power.error();
    // Without that of one, the sum would be too small.
    if (!*power) return Error{.message = "a power sensor has no value at present", .code = EAGAIN};
    sum += **power;
  }
  return sum;
}

Result<Microwatts> Reader::read() {
  if (way_ != Way::kSensors) {
    const auto power = controller_.dcmi_power();
    if (power) way_ = Way::kDcmi;
    if (power || way_ == Way::kDcmi || power.error().code != ENOTSUP) return power;
  }
  if (way_ == Way::kUnknown) {
    const auto all = controller_.power_sensors();
    if (!all) return all.error();
    sensors_ = sensors_of_host(*all);
    if (sensors_.empty())
      return Error{
          .message =
              "the management controller has neither DCMI power readings nor a sensor of the host's power",
          .code = EIO};
    way_ = Way::kSensors;
  }
  return read_sensors();
}

meters::Poll Reader::poll() {
  const std::int64_t asked = clock_();
  const auto power = read();
  const std::int64_t time = asked + (clock_() - asked) / 2;
  const Result<Done> checked = power ? check_.check(*power) : power.error();
  if (!checked) {
    const bool is_failure = checked.error().code != EDOM && checked.error().code != EAGAIN;
    if (!is_failure) return {.problem = checked.error().message, .pause = kInterval};
    // It may be another one, or have other sensors, after it has been reset.
    way_ = Way::kUnknown;
    controller_.reopen();
    return {.problem = checked.error().message, .pause = backoff_.next(kInterval)};
  }
  backoff_.reset();
  return {.meters = {{.name = "platform",
                      .covers = "platform",
                      .quality = "measured",
                      .zone = "platform",
                      .value = power->value,
                      .boottime = time}},
          .problem = {},
          .pause = kInterval};
}

}  // namespace keplerd::ipmi
