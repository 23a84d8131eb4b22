// SPDX-License-Identifier: Apache-2.0
// The management controller behind /dev/ipmi0, by libfreeipmi.
#pragma once

#include <memory>
#include <string>

#include "meters/ipmi/controller.h"

namespace keplerd::ipmi {

class FreeIpmi final : public Controller {
 public:
  FreeIpmi();
  ~FreeIpmi() override;
  FreeIpmi(const FreeIpmi&) = delete;
  FreeIpmi& operator=(const FreeIpmi&) = delete;

  Result<Microwatts> dcmi_power() override;
  Result<std::vector<PowerSensor>> power_sensors() override;
  Result<std::optional<Microwatts>> read_sensor(const PowerSensor& sensor) override;
  void reopen() override;

 private:
  struct Device;
  Result<Done> open();

  std::unique_ptr<Device> device_;  // null: not open
};

}  // namespace keplerd::ipmi
