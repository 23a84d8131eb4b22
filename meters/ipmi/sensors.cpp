// SPDX-License-Identifier: Apache-2.0
#include "meters/ipmi/sensors.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace keplerd::ipmi {
namespace {

constexpr std::uint8_t kPowerSupply = 10;  // Entity ID

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  std::ranges::replace(text, '_', ' ');
  return text;
}

template <std::size_t N>
bool has_any(const std::string& name, const std::array<std::string_view, N>& words) {
  return std::ranges::any_of(words, [&name](std::string_view word) { return name.find(word) != name.npos; });
}

bool is_part(const std::string& name) {
  constexpr std::array<std::string_view, 10> kParts = {"cpu", "proc", "mem",  "dimm", "fan",
                                                       "gpu", "hdd",  "disk", "pcie", "out"};
  return has_any(name, kParts);
}

// Dell's "Pwr Consumption", HPE's "Power Meter", Lenovo's "Sys Power", Supermicro's "Total Power", ...
bool is_total(const PowerSensor& sensor) {
  constexpr std::array<std::string_view, 6> kTotals = {"total", "consumption", "power meter",
                                                       "sys",   "platform",    "chassis"};
  const std::string name = lower(sensor.name);
  return sensor.entity != kPowerSupply && !is_part(name) && has_any(name, kTotals);
}

bool is_supply(const PowerSensor& sensor) {
  return sensor.entity == kPowerSupply && !is_part(lower(sensor.name));
}

}  // namespace

std::vector<PowerSensor> sensors_of_host(const std::vector<PowerSensor>& all) {
  const auto total = std::ranges::find_if(all, is_total);
  if (total != all.end()) return {*total};
  std::vector<PowerSensor> supplies;
  std::ranges::copy_if(all, std::back_inserter(supplies), is_supply);
  return supplies;
}

}  // namespace keplerd::ipmi
