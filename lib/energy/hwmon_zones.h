// SPDX-License-Identifier: Apache-2.0
// Interprets the sensors of /sys/class/hwmon by a list of chips whose meaning is documented; chips that are
// not in it have no zones. No I/O. Source of the facts: the kernel's Documentation/hwmon/ (amd_energy,
// fam15h_power, xgene-hwmon, acpi_power_meter, ina2xx), Documentation/gpu/amdgpu/thermal.rst and
// Documentation/ABI/testing/sysfs-driver-intel-{i915,xe}-hwmon.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "energy/zone.h"

namespace keplerd {

struct HwmonInput {
  std::string file;   // "energy1_input", "power1_average"
  std::string label;  // from "energy1_label"; empty if there is none
};

struct HwmonChip {
  std::string directory;  // "hwmon3": differs after each boot
  std::string name;       // `name`: the driver's name
  std::string device;     // "0000:03:00.0": stable, for the order
  std::vector<HwmonInput> inputs;
  bool is_in_processor = false;  // the graphics of a processor, whose power is that of the whole socket
};

// What a sensor measures.
enum class HwmonRole {
  kProcessor,  // in the host's total
  kPlatform,   // a platform's meter or a rail of its board: shown only
  kGpu,        // a graphics card: not in the total
};

struct HwmonZone {
  Zone zone;
  std::string directory;
  std::string file;
  bool counts_power = false;  // microwatts instead of microjoules
  bool slow = false;          // reading it may block
  bool may_sleep = false;     // reading it would wake up its device
};

bool is_known_chip(std::string_view name);

// "energy1_input" and the like; for a power sensor the average, unless it only has the present value.
std::vector<HwmonZone> hwmon_zones(std::vector<HwmonChip> chips, const std::vector<HwmonRole>& roles);

// Parses an input's text: microjoules or microwatts. Fails if it is not a number, negative, or too
// large.
Result<std::int64_t> parse_hwmon_value(std::string_view text);

}  // namespace keplerd
