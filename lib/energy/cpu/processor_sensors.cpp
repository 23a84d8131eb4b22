// SPDX-License-Identifier: Apache-2.0
#include "energy/cpu/processor_sensors.h"

#include <cerrno>

#include <fmt/format.h>

#include "energy/hwmon.h"

namespace keplerd {

Result<std::unique_ptr<EnergySource>> open_processor_sensors(const HostRoot& host,
                                                             const std::vector<std::string>& names) {
  HwmonSensors sensors = find_hwmon_sensors(host, {HwmonRole::kProcessor});
  if (!sensors.zones) return sensors.zones.error();
  if (sensors.zones->empty()) {
    return Error{.message = fmt::format("{}/{}: no known processor sensor", sensors.directory.shown,
                                        sensors.directory.path),
                 .code = ENOENT};
  }
  std::vector<Zone> zones;
  for (const HwmonZone& one : *sensors.zones) zones.push_back(one.zone);
  const auto choice = check_choice(zones, names);
  if (!choice) return choice.error();
  return open_hwmon_sensors(std::move(sensors), names);
}

}  // namespace keplerd
