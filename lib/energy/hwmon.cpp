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
#include "energy/hwmon_zones.h"
#include "energy/power_integral.h"
#include "host/host_root.h"

namespace keplerd {
namespace {

constexpr const char* kClass = "class/hwmon";
constexpr std::size_t kLongestText = 128;
constexpr Nanoseconds kSlowPeriod = std::chrono::seconds(5);
// A sensor that holds the loop up for longer is left alone for a while.
constexpr Nanoseconds kLongestWait = std::chrono::milliseconds(100);
constexpr Nanoseconds kPenalty = std::chrono::minutes(5);

// Empty where it cannot be read.
std::string text_of(int sysfs, const std::string& path) {
  std::array<char, kLongestText> buffer{};
  const auto text = read_file(sysfs, path.c_str(), buffer);
  return text ? std::string(trim(*text)) : std::string{};
}

std::string device_of(int sysfs, const std::string& chip) {
  const auto link = read_link(sysfs, (chip + "/device").c_str());
  return link ? link->substr(link->rfind('/') + 1) : std::string{};
}

std::vector<std::string> chips_of(int sysfs) {
  auto names = list_directory(sysfs, kClass);
  if (!names) return {};
  std::ranges::sort(*names);
  return *std::move(names);
}

// Those of energy and power, in the directory of a chip.
std::vector<std::string> inputs_of(int sysfs, const std::string& chip) {
  auto files = list_directory(sysfs, chip.c_str());
  if (!files) return {};
  std::erase_if(*files, [](const std::string& file) {
    return (!file.starts_with("energy") && !file.starts_with("power")) ||
           (!file.ends_with("_input") && !file.ends_with("_average"));
  });
  return *std::move(files);
}

HwmonChip read_chip(int sysfs, const std::string& directory) {
  const auto path = fmt::format("{}/{}", kClass, directory);
  HwmonChip chip{directory, text_of(sysfs, path + "/name"), {}, {}};
  if (!is_known_chip(chip.name)) return chip;
  chip.device = device_of(sysfs, path);
  for (const auto& file : inputs_of(sysfs, path)) {
    const auto label = fmt::format("{}/{}_label", path, file.substr(0, file.find('_')));
    chip.inputs.push_back({file, text_of(sysfs, label)});
  }
  return chip;
}

Result<std::vector<HwmonZone>> discover(const HostRoot& host, HwmonRole role) {
  const auto names = list_directory(host.sysfs(), kClass);
  if (!names) {
    return Error{.message = fmt::format("{}/{}", host.paths().sysfs, names.error().message),
                 .code = names.error().code};
  }
  std::vector<HwmonChip> chips;
  for (const auto& name : *names) chips.push_back(read_chip(host.sysfs(), name));
  return hwmon_zones(std::move(chips), role);
}

// One sensor.
class Sensor {
 public:
  Sensor(int sysfs, HwmonZone zone) : sysfs_(sysfs), zone_(std::move(zone)) {
    if (zone_.slow) value_ = read_value();
  }

  Result<Microjoules> read(Nanoseconds now) {
    if (!zone_.slow) {
      // A device that sleeps draws next to nothing, and would be woken up to tell so.
      value_ = sleeps() ? (zone_.tells_power ? 0 : last_good_) : read_value();
    }
    if (!value_) return value_.error();
    last_good_ = *value_;
    return zone_.tells_power ? integral_.advance(now, {*value_}) : Microjoules{*value_};
  }

  // Reads what may block.
  void refresh(Nanoseconds now) {
    if (!zone_.slow || (refresh_at_ && now < *refresh_at_)) return;
    const auto begin = std::chrono::steady_clock::now();
    value_ = read_value();
    const bool too_slow = std::chrono::steady_clock::now() - begin > kLongestWait;
    refresh_at_ = now + (too_slow ? kPenalty : kSlowPeriod);
    if (too_slow) value_ = Error{.message = path(zone_.file) + ": answers too slowly", .code = ETIMEDOUT};
  }

 private:
  std::string path(std::string_view file) const {
    return fmt::format("{}/{}/{}", kClass, zone_.directory, file);
  }

  bool sleeps() const {
    return zone_.may_sleep && text_of(sysfs_, path("device/power/runtime_status")) == "suspended";
  }

  Result<std::int64_t> read_value() const {
    std::array<char, kLongestText> buffer{};
    const auto name = path(zone_.file);
    const auto text = read_file(sysfs_, name.c_str(), buffer);
    if (!text) return text.error();
    auto value = parse_hwmon_value(*text);
    if (!value) return Error{.message = name + ": " + value.error().message};
    return value;
  }

  int sysfs_;
  HwmonZone zone_;
  PowerIntegral integral_;
  Result<std::int64_t> value_ = std::int64_t{0};
  std::int64_t last_good_ = 0;
  std::optional<Nanoseconds> refresh_at_;
};

class HwmonSource final : public EnergySource {
 public:
  HwmonSource(std::string sysfs_path, UniqueFd sysfs)
      : sysfs_path_(std::move(sysfs_path)), sysfs_(std::move(sysfs)), chips_(chips_of(sysfs_.get())) {}

  void add(const HwmonZone& zone) {
    zones_.push_back(zone.zone);
    sensors_.emplace_back(sysfs_.get(), zone);
  }

  std::string_view name() const override { return "hwmon"; }
  const std::vector<Zone>& zones() const override { return zones_; }

  void read(Nanoseconds now, ZoneReadings& readings) override {
    readings.clear();
    for (auto& sensor : sensors_) {
      auto energy = sensor.read(now);
      if (!energy) {
        energy = Error{.message = fmt::format("{}/{}", sysfs_path_, energy.error().message),
                       .code = energy.error().code};
      }
      readings.push_back(std::move(energy));
    }
  }

  void refresh(Nanoseconds now) override {
    for (auto& sensor : sensors_) sensor.refresh(now);
  }

  bool outdated() const override { return chips_of(sysfs_.get()) != chips_; }

 private:
  std::string sysfs_path_;
  UniqueFd sysfs_;                  // own, so that the source outlives the HostRoot
  std::vector<std::string> chips_;  // when it was opened
  std::vector<Zone> zones_;
  std::vector<Sensor> sensors_;  // of zones_
};

Result<std::unique_ptr<EnergySource>> open_zones(const HostRoot& host, const std::vector<HwmonZone>& zones,
                                                 const std::vector<std::string>& names) {
  auto sysfs = open_directory(host.sysfs(), ".");
  if (!sysfs) return sysfs.error();
  auto source = std::make_unique<HwmonSource>(host.paths().sysfs, *std::move(sysfs));
  for (const auto& zone : zones) {
    if (is_chosen(zone.zone, names)) source->add(zone);
  }
  return std::unique_ptr<EnergySource>(std::move(source));
}

}  // namespace

Result<std::unique_ptr<EnergySource>> open_hwmon(const HostRoot& host,
                                                 const std::vector<std::string>& names) {
  const auto found = discover(host, HwmonRole::kProcessor);
  if (!found) return found.error();
  if (found->empty()) {
    return Error{.message = fmt::format("{}/{}: no known sensor of a processor", host.paths().sysfs, kClass),
                 .code = ENOENT};
  }
  std::vector<Zone> zones;
  for (const auto& one : *found) zones.push_back(one.zone);
  const auto choice = check_choice(zones, names);
  if (!choice) return choice.error();
  return open_zones(host, *found, names);
}

std::vector<LeftOut> hwmon_left_out(const HostRoot& host) {
  std::vector<LeftOut> left_out;
  for (const auto& directory : chips_of(host.sysfs())) {
    const auto path = fmt::format("{}/{}", kClass, directory);
    const auto name = text_of(host.sysfs(), path + "/name");
    if (is_known_chip(name) || inputs_of(host.sysfs(), path).empty()) continue;
    left_out.push_back(
        {fmt::format("hwmon {}", escape_name(name)), "is not known to measure a part of a host"});
  }
  return left_out;
}

std::unique_ptr<EnergySource> open_beside(const HostRoot& host, const std::vector<std::string>& names) {
  const auto found = discover(host, HwmonRole::kBeside);
  if (!found || found->empty()) return nullptr;
  auto source = open_zones(host, *found, names);
  if (!source || (*source)->zones().empty()) return nullptr;
  return *std::move(source);
}

}  // namespace keplerd
