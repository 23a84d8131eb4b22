// SPDX-License-Identifier: Apache-2.0
// The files of a meter directory (keplerd-meters(7)): /run/keplerd-meters/NAME/, by which a program of its
// own passes the readings of a slow or foreign meter to keplerd. Pure.
//
//   covers       what is measured: "platform" (the whole host), "cpu", "gpu" or "other"
//   quality      "measured", "modelled" or "estimated"
//   name         optional: the zone's name, like "psu"; the default is what is covered
//   device       optional, of a graphics card: its PCI address, by which its use is found
//   energy_uj    microjoules, counted from any beginning, or
//   power_uw     microwatts at that time
//   boottime_us  when that was read: CLOCK_BOOTTIME in microseconds
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "energy/zone.h"

namespace keplerd {

// What does not change while a meter exists.
struct MeterDescription {
  Coverage covers{};
  Quality quality{};
  std::string name;
  bool counts_energy = false;
  std::string device = {};  // as Zone has it
};

// The texts of its files; unset: there is no such file.
struct MeterTexts {
  std::optional<std::string> covers, quality, name, energy, power, device;
};

Result<MeterDescription> describe_meter(const MeterTexts& texts);

struct MeterReading {
  Nanoseconds time{0};     // CLOCK_BOOTTIME
  std::int64_t value = 0;  // microjoules or microwatts
};

Result<MeterReading> parse_meter_reading(std::string_view value, std::string_view time);

// Names of meters and their zones: they become part of ids. "[a-z][a-z0-9-]*", at most 32 characters.
bool is_meter_name(std::string_view name);

}  // namespace keplerd
