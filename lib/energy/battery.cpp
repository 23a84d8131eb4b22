// SPDX-License-Identifier: Apache-2.0
#include "energy/battery.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/parse.h"
#include "energy/battery_power.h"
#include "energy/power_integral.h"
#include "host/host_root.h"

namespace keplerd {
namespace {

constexpr const char* kClass = "class/power_supply";
constexpr std::size_t kLongestText = 64, kMostSupplies = 64;

// Empty if it cannot be read.
std::string text_of(int sysfs, const std::string& supply, const char* file) {
  std::array<char, kLongestText> buffer{};
  const auto text = read_file(sysfs, fmt::format("{}/{}/{}", kClass, supply, file).c_str(), buffer);
  return text ? std::string(trim(*text)) : std::string();
}

// `online` is read of all, as it decides; the rest of batteries only.
PowerSupply read_supply(int sysfs, const std::string& name) {
  PowerSupply supply{
      .name = name, .type = text_of(sysfs, name, "type"), .scope = text_of(sysfs, name, "scope")};
  if (supply.type != "Battery") {
    supply.online = text_of(sysfs, name, "online");
    return supply;
  }
  supply.present = text_of(sysfs, name, "present");
  supply.status = text_of(sysfs, name, "status");
  if (supply.status != "Discharging") return supply;
  supply.power = text_of(sysfs, name, "power_now");
  supply.current = text_of(sysfs, name, "current_now");
  supply.voltage = text_of(sysfs, name, "voltage_now");
  return supply;
}

std::vector<PowerSupply> read_supplies(int sysfs) {
  std::vector<PowerSupply> supplies;
  auto names = list_directory(sysfs, kClass, kMostSupplies);
  if (!names) return supplies;
  std::ranges::sort(*names);
  for (const std::string& name : *names) supplies.push_back(read_supply(sysfs, name));
  return supplies;
}

class BatterySource final : public EnergySource {
 public:
  BatterySource(UniqueFd sysfs, const std::vector<std::string>& names) : sysfs_(std::move(sysfs)) {
    Zone zone{.id = zone_id(name(), "platform", 0),
              .name = "platform",
              .quality = Quality::kModelled,
              .begins_anew = true,
              .resource = Resource::kNone};
    is_chosen_ = is_chosen(zone, names);
    if (is_wanted()) zones_.push_back(std::move(zone));
  }

  std::string_view name() const override { return "battery"; }
  const std::vector<Zone>& zones() const override { return zones_; }

  void read(Nanoseconds now, ZoneReadings& readings) override {
    readings.clear();
    if (zones_.empty()) return;
    const auto power = battery_power(read_supplies(sysfs_.get()));
    if (!power) integral_.pause();
    readings.push_back(power ? Result(integral_.advance(now, *power)) : Result<Microjoules>(power.error()));
  }

  // The firmware averages the power over seconds, and reading it often costs what is to be saved.
  bool may_read_seldom() const override { return true; }

  bool outdated() const override { return is_wanted() == zones_.empty(); }

 private:
  bool is_wanted() const { return is_chosen_ && battery_power(read_supplies(sysfs_.get())).ok(); }

  UniqueFd sysfs_;  // of its own: the source outlives the HostRoot
  bool is_chosen_ = false;
  std::vector<Zone> zones_;
  PowerIntegral integral_;
};

}  // namespace

std::unique_ptr<EnergySource> open_battery(const HostRoot& host, const std::vector<std::string>& names) {
  auto sysfs = open_directory(host.sysfs(), ".");
  return std::make_unique<BatterySource>(sysfs ? *std::move(sysfs) : UniqueFd(), names);
}

std::vector<LeftOut> battery_left_out(const HostRoot& host) {
  const auto supplies = read_supplies(host.sysfs());
  if (std::ranges::none_of(supplies, is_battery_of_host)) return {};
  const auto power = battery_power(supplies);
  if (power) return {};
  return {{.what = "battery:", .why = power.error().message}};
}

}  // namespace keplerd
