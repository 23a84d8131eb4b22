// SPDX-License-Identifier: Apache-2.0
#include "energy/cpu/processor_sensors.h"

#include <array>
#include <cerrno>

#include <fmt/format.h>

#include "energy/hwmon.h"

namespace keplerd {

Result<std::unique_ptr<EnergySource>> open_processor_sensors(const HostRoot& host,
                                                             const std::vector<std::string>& names) {
  auto found = find_hwmon_sensors(host, std::array{HwmonQuery{.role = HwmonRole::kProcessor}});
  const HwmonSensors& sensors = found.front();
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
  return open_hwmon_sensors(std::move(found), names);
}

}  // namespace keplerd
