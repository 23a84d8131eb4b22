// SPDX-License-Identifier: Apache-2.0
#include "energy/hwmon.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/parse.h"
#include "base/text.h"
#include "energy/power_integral.h"
#include "host/host_root.h"

namespace keplerd {
namespace {

constexpr const char* kClass = "class/hwmon";
constexpr std::size_t kLongestText = 128;
constexpr Nanoseconds kSlowPeriod = std::chrono::seconds(5);
// A sensor that blocks the loop for longer is skipped for a while.
constexpr Nanoseconds kLongestWait = std::chrono::milliseconds(100);
constexpr Nanoseconds kPenalty = std::chrono::minutes(5);

// Empty if it cannot be read.
std::string text_of(int sysfs, const std::string& path) {
  std::array<char, kLongestText> buffer{};
  const auto text = read_file(sysfs, path.c_str(), buffer);
  return text ? std::string(trim(*text)) : std::string{};
}

Result<HwmonDirectory> open_class(const HostRoot& host) {
  auto fd = open_directory(host.sysfs(), ".");
  if (!fd) return fd.error();
  std::string shown = host.paths().sysfs;
  while (shown.ends_with('/')) shown.pop_back();
  return HwmonDirectory{*std::move(fd), kClass, std::move(shown)};
}

std::string device_of(int sysfs, const std::string& chip) {
  const auto link = read_link(sysfs, (chip + "/device").c_str());
  return link ? link->substr(link->rfind('/') + 1) : std::string{};
}

std::vector<std::string> chips_of(const HwmonDirectory& tree) {
  auto names = list_directory(tree.root.get(), tree.path.c_str());
  if (!names) return {};
  std::ranges::sort(*names);
  return *std::move(names);
}

// The energy and power sensors in the directory of a chip.
std::vector<std::string> inputs_of(int sysfs, const std::string& chip) {
  auto files = list_directory(sysfs, chip.c_str());
  if (!files) return {};
  std::erase_if(*files, [](const std::string& file) {
    return (!file.starts_with("energy") && !file.starts_with("power")) ||
           (!file.ends_with("_input") && !file.ends_with("_average"));
  });
  return *std::move(files);
}

HwmonChip read_chip(const HwmonDirectory& tree, const std::string& directory) {
  const int sysfs = tree.root.get();
  const auto path = fmt::format("{}/{}", tree.path, directory);
  HwmonChip chip{directory, text_of(sysfs, path + "/name"), {}, {}};
  if (!is_known_chip(chip.name)) return chip;
  chip.device = device_of(sysfs, path);
  // amdgpu shows the voltage of the northbridge of processors with graphics only
  // (drivers/gpu/drm/amd/pm/amdgpu_pm.c).
  chip.is_in_processor = chip.name == "amdgpu" && text_of(sysfs, path + "/in1_label") == "vddnb";
  for (const auto& file : inputs_of(sysfs, path)) {
    const auto label = fmt::format("{}/{}_label", path, file.substr(0, file.find('_')));
    chip.inputs.push_back({file, text_of(sysfs, label)});
  }
  return chip;
}

Result<std::vector<HwmonZone>> discover(const HwmonDirectory& tree, const std::vector<HwmonRole>& roles) {
  const auto names = list_directory(tree.root.get(), tree.path.c_str());
  if (!names) {
    return Error{.message = fmt::format("{}/{}", tree.shown, names.error().message),
                 .code = names.error().code};
  }
  std::vector<HwmonChip> chips;
  for (const auto& name : *names) chips.push_back(read_chip(tree, name));
  return hwmon_zones(std::move(chips), roles);
}

// One sensor.
class Sensor {
 public:
  // `tree` must outlive it.
  Sensor(const HwmonDirectory& tree, HwmonZone zone) : tree_(&tree), zone_(std::move(zone)) {
    if (zone_.slow) value_ = read_value();
  }

  const std::string& shown() const { return tree_->shown; }
  bool counts_power() const { return zone_.counts_power; }

  Result<Microjoules> read(Nanoseconds now) {
    if (!zone_.slow) {
      // A sleeping device draws next to nothing, and reading it would wake it up.
      value_ = sleeps() ? (zone_.counts_power ? 0 : last_good_) : read_value();
    }
    if (!value_) return value_.error();
    last_good_ = *value_;
    return zone_.counts_power ? integral_.advance(now, {*value_}) : Microjoules{*value_};
  }

  // How old the value of the last read() is: unset for sensors that are read each time.
  std::optional<ReadingAge> age(Nanoseconds now) const {
    if (!zone_.slow || !refreshed_) return std::nullopt;
    return ReadingAge{.age = now - *refreshed_};
  }

  // Performs the reads that may block.
  void refresh(Nanoseconds now) {
    if (!zone_.slow || (refresh_at_ && now < *refresh_at_)) return;
    refreshed_ = now;
    const auto begin = std::chrono::steady_clock::now();
    value_ = read_value();
    const bool too_slow = std::chrono::steady_clock::now() - begin > kLongestWait;
    refresh_at_ = now + (too_slow ? kPenalty : kSlowPeriod);
    if (too_slow) value_ = Error{.message = path(zone_.file) + ": answers too slowly", .code = ETIMEDOUT};
  }

 private:
  std::string path(std::string_view file) const {
    return fmt::format("{}/{}/{}", tree_->path, zone_.directory, file);
  }

  bool sleeps() const {
    return zone_.may_sleep && text_of(tree_->root.get(), path("device/power/runtime_status")) == "suspended";
  }

  Result<std::int64_t> read_value() const {
    std::array<char, kLongestText> buffer{};
    const auto name = path(zone_.file);
    const auto text = read_file(tree_->root.get(), name.c_str(), buffer);
    if (!text) return text.error();
    auto value = parse_hwmon_value(*text);
    if (!value) return Error{.message = name + ": " + value.error().message};
    return value;
  }

  const HwmonDirectory* tree_;
  HwmonZone zone_;
  PowerIntegral integral_;
  Result<std::int64_t> value_ = std::int64_t{0};
  std::int64_t last_good_ = 0;
  std::optional<Nanoseconds> refreshed_, refresh_at_;
};

class HwmonSource final : public EnergySource {
 public:
  // The zones that `names` choose.
  HwmonSource(HwmonDirectory tree, const std::vector<HwmonZone>& zones, const std::vector<std::string>& names)
      : tree_(std::move(tree)) {
    if (tree_.root) chips_ = chips_of(tree_);
    for (const HwmonZone& zone : zones) {
      if (!is_chosen(zone.zone, names)) continue;
      zones_.push_back(zone.zone);
      sensors_.emplace_back(tree_, zone);
    }
  }

  std::string_view name() const override { return "hwmon"; }
  const std::vector<Zone>& zones() const override { return zones_; }

  void read(Nanoseconds now, ZoneReadings& readings) override {
    readings.clear();
    read_ = now;
    for (auto& sensor : sensors_) {
      auto energy = sensor.read(now);
      if (!energy) {
        energy = Error{.message = fmt::format("{}/{}", sensor.shown(), energy.error().message),
                       .code = energy.error().code};
      }
      readings.push_back(std::move(energy));
    }
  }

  void ages(ReadingAges& ages) const override {
    ages.clear();
    for (const auto& sensor : sensors_) ages.push_back(sensor.age(read_));
  }

  void refresh(Nanoseconds now) override {
    for (auto& sensor : sensors_) sensor.refresh(now);
  }

  // Power sensors report instantaneous power: the energy in between is integrated from the readings.
  bool may_read_seldom() const override { return std::ranges::none_of(sensors_, &Sensor::counts_power); }

  bool outdated() const override { return tree_.root && chips_of(tree_) != chips_; }

 private:
  HwmonDirectory tree_;             // own copy: the source outlives the HostRoot
  std::vector<std::string> chips_;  // when it was opened
  std::vector<Zone> zones_;
  Nanoseconds read_{0};          // when it was last read
  std::vector<Sensor> sensors_;  // of zones_
};

}  // namespace

HwmonSensors find_hwmon_sensors(const HostRoot& host, const std::vector<HwmonRole>& roles) {
  auto tree = open_class(host);
  if (!tree) return {{}, tree.error()};
  auto zones = discover(*tree, roles);
  return {*std::move(tree), std::move(zones)};
}

std::unique_ptr<EnergySource> open_hwmon_sensors(HwmonSensors found, const std::vector<std::string>& names) {
  const auto zones = found.zones ? *std::move(found.zones) : std::vector<HwmonZone>{};
  return std::make_unique<HwmonSource>(std::move(found.directory), zones, names);
}

std::vector<LeftOut> hwmon_left_out(const HostRoot& host) {
  std::vector<LeftOut> left_out;
  const auto tree = open_class(host);
  if (!tree) return left_out;
  for (const auto& directory : chips_of(*tree)) {
    const auto path = fmt::format("{}/{}", kClass, directory);
    const auto name = text_of(host.sysfs(), path + "/name");
    if (is_known_chip(name) || inputs_of(host.sysfs(), path).empty()) continue;
    left_out.push_back({fmt::format("hwmon {}", escape_name(name)), "is not a known energy sensor"});
  }
  return left_out;
}

}  // namespace keplerd
