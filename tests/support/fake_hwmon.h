// SPDX-License-Identifier: Apache-2.0
// Chips in a written host's /sys/class/hwmon.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "support/fake_host.h"

namespace keplerd {

inline std::string hwmon_file(int number, const std::string& file) {
  return fmt::format("sys/class/hwmon/hwmon{}/{}", number, file);
}

// `files`: names and texts, e.g. {"power1_input", "1000000"}.
inline void add_hwmon(FakeHost& host, int number, const std::string& name, const std::string& device,
                      const std::vector<std::pair<std::string, std::string>>& files) {
  host.write(hwmon_file(number, "name"), name + "\n");
  if (!device.empty()) {
    host.write("sys/devices/" + device + "/power/runtime_status", "active\n");
    host.link(hwmon_file(number, "device"), "../../../devices/" + device);
  }
  for (const auto& [file, text] : files) host.write(hwmon_file(number, file), text + "\n");
}

}  // namespace keplerd
