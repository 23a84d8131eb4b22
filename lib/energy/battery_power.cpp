// SPDX-License-Identifier: Apache-2.0
#include "energy/battery_power.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/parse.h"
#include "base/text.h"

namespace keplerd {
namespace {

constexpr std::int64_t kMostAmount = 1'000'000'000;  // 1 kW, 1000 A or 1000 V
constexpr std::int64_t kMicro = 1'000'000;

// Without its sign; unset if it is missing, 0 or implausible.
std::optional<std::int64_t> amount(const std::string& text) {
  const auto number = parse_number<std::int64_t>(text);
  if (!number || *number == 0 || *number < -kMostAmount || *number > kMostAmount) return std::nullopt;
  return *number < 0 ? -*number : *number;
}

std::optional<Microwatts> power_of(const PowerSupply& battery) {
  if (const auto power = amount(battery.power)) return Microwatts{*power};
  const auto current = amount(battery.current), voltage = amount(battery.voltage);
  if (!current || !voltage || *current * *voltage / kMicro > kMostAmount) return std::nullopt;
  return Microwatts{*current * *voltage / kMicro};
}

// A charger; of USB-C, too.
bool supplies_host(const PowerSupply& supply) {
  return supply.type != "Battery" && supply.scope != "Device" && supply.online == "1";
}

}  // namespace

bool is_battery_of_host(const PowerSupply& supply) {
  return supply.type == "Battery" && supply.scope != "Device" && supply.present != "0";
}

Result<Microwatts> battery_power(const std::vector<PowerSupply>& supplies) {
  if (std::ranges::any_of(supplies, supplies_host))
    return Error{.message = "the host is not running on battery"};
  Microwatts sum;
  bool discharging = false;
  for (const PowerSupply& supply : supplies) {
    if (!is_battery_of_host(supply)) continue;
    if (supply.status == "Charging")
      return Error{.message = fmt::format("{} is being charged", escape_name(supply.name))};
    if (supply.status != "Discharging") continue;
    const auto power = power_of(supply);
    if (!power)
      return Error{.message = fmt::format("{} is discharging, but does not report its power",
                                          escape_name(supply.name))};
    sum += *power;
    discharging = true;
  }
  if (!discharging) return Error{.message = "no battery is discharging"};
  return sum;
}

}  // namespace keplerd
