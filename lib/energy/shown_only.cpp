// SPDX-License-Identifier: Apache-2.0
#include "energy/shown_only.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "energy/battery.h"
#include "energy/hwmon.h"

namespace keplerd {
namespace {

// Several sources, one after another.
class Combined final : public EnergySource {
 public:
  explicit Combined(std::vector<std::unique_ptr<EnergySource>> sources) : sources_(std::move(sources)) {
    for (const auto& source : sources_)
      zones_.insert(zones_.end(), source->zones().begin(), source->zones().end());
  }

  std::string_view name() const override { return "additional meters"; }
  const std::vector<Zone>& zones() const override { return zones_; }

  void read(Nanoseconds now, ZoneReadings& readings) override {
    readings.clear();
    for (const auto& source : sources_) {
      source->read(now, part_);
      std::ranges::move(part_, std::back_inserter(readings));
    }
  }

  void ages(ReadingAges& ages) const override {
    ages.clear();
    ReadingAges part;
    for (const auto& source : sources_) {
      source->ages(part);
      ages.insert(ages.end(), part.begin(), part.end());
    }
  }

  void refresh(Nanoseconds now) override {
    for (const auto& source : sources_) source->refresh(now);
  }

  bool may_read_seldom() const override {
    return std::ranges::all_of(sources_, [](const auto& source) { return source->may_read_seldom(); });
  }

  bool outdated() const override {
    return std::ranges::any_of(sources_, [](const auto& source) { return source->outdated(); });
  }

 private:
  std::vector<std::unique_ptr<EnergySource>> sources_;
  std::vector<Zone> zones_;
  ZoneReadings part_;
};

}  // namespace

std::unique_ptr<EnergySource> open_shown_only(const HostRoot& host, const std::vector<std::string>& names,
                                              BootClock clock) {
  std::vector<std::unique_ptr<EnergySource>> sources;
  sources.push_back(
      open_hwmon_sensors(find_hwmon_sensors(host, {HwmonRole::kPlatform, HwmonRole::kGpu}), names));
  sources.push_back(open_battery(host, names));
  sources.push_back(open_meter_directories(host, names, std::move(clock)));
  auto combined = std::make_unique<Combined>(std::move(sources));
  if (combined->zones().empty()) return nullptr;
  return combined;
}

}  // namespace keplerd
