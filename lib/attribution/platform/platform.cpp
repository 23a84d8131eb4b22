// SPDX-License-Identifier: Apache-2.0
#include "attribution/platform/platform.h"

#include <algorithm>
#include <utility>

#include "attribution/platform/platform_choice.h"

namespace keplerd {
namespace {

constexpr Nanoseconds kLongestSilence = std::chrono::seconds(60);
constexpr double kPsysTrial = 60;  // seconds

}  // namespace

std::optional<PlatformState> Platform::update(const Window& window) {
  const auto covers_platform = [](const Zone& zone) { return coverage_of(zone) == Coverage::kPlatform; };
  const bool is_metered = std::ranges::any_of(window.zones, covers_platform);
  if (is_metered) {
    add_parts(window);
    examine_psys(window);
  } else {
    part_ids_.clear();  // so that their history begins again
  }
  const auto zone = is_metered ? choose(window) : std::nullopt;
  if (!zone) {
    change_meter({});
    return std::nullopt;
  }
  state_.rest = {};
  state_.zone = *zone;
  read_meter(window, *zone);
  const Learned& learned = learned_[meter_];
  state_.lag = learned.lag.lag();
  state_.rest_error = rest_power_.error();
  state_.contradiction = rest_power_.contradiction();
  if (state_.contradiction && is_psys(window.zones[*zone])) psys_is_less_ = true;
  state_.wall = learned.wall.fit();
  state_.wall_power.reset();
  if (state_.wall && parts_power_) state_.wall_power = state_.wall->power(*parts_power_);
  return state_;
}

// A part whose energy is lost begins a new history; one that is only late brings its energy later.
void Platform::add_parts(const Window& window) {
  parts_ = platform_parts(window.zones);
  std::vector<std::string> ids;
  for (const std::size_t part : parts_) ids.push_back(window.zones[part].id);
  bool lost = ids != std::exchange(part_ids_, ids), late = false;
  parts_power_ = parts_.empty() ? std::nullopt : std::optional(Microwatts{});
  for (const std::size_t part : parts_) {
    const ZoneAttribution& energy = window.energies[part];
    parts_total_ += energy.energy;
    const bool is_read = window.readings[part].ok();
    lost = lost || energy.verdict != StepVerdict::kCounted || (is_read && !energy.read);
    late = late || !is_read;
    if (!energy.read || energy.span < kShortestPowerSpan) parts_power_.reset();
    if (parts_power_) *parts_power_ += mean_power(energy.energy, energy.span);
  }
  if (lost) {
    history_.clear();
    parts_then_.reset();
  }
  if (!late && !parts_.empty()) history_.add(window.at.boottime, parts_total_);
}

// What psys covers is the manufacturer's choice: it is of use only if it counts at least what the parts do.
void Platform::examine_psys(const Window& window) {
  const auto psys = std::ranges::find_if(window.zones, is_psys);
  if (psys == window.zones.end() || parts_.empty()) return;
  const auto is_read = [&](std::size_t zone) { return window.energies[zone].read; };
  const auto zone = static_cast<std::size_t>(psys - window.zones.begin());
  if (!is_read(zone) || !std::ranges::all_of(parts_, is_read)) return;
  psys_seconds_ += to_seconds(window.energies[zone].span);
  psys_energy_ += window.energies[zone].energy;
  for (const std::size_t part : parts_) psys_parts_ += window.energies[part].energy;
}

std::optional<std::size_t> Platform::choose(const Window& window) {
  std::vector<std::size_t> candidates = platform_zones(window.zones);
  const bool trusts_psys = !psys_is_less_ && psys_seconds_ >= kPsysTrial && psys_energy_ >= psys_parts_;
  if (!trusts_psys) std::erase_if(candidates, [&](std::size_t zone) { return is_psys(window.zones[zone]); });
  auto present =
      std::ranges::find(candidates, meter_, [&](std::size_t zone) { return window.zones[zone].id; });
  const bool is_silent = !last_read_ || window.at.boottime - *last_read_ > kLongestSilence;
  const auto other = std::find_if(candidates.begin(), is_silent ? candidates.end() : present,
                                  [&](std::size_t zone) { return window.energies[zone].read; });
  const bool another_is_read = other != (is_silent ? candidates.end() : present);
  if (another_is_read) present = other;
  if (present == candidates.end() && !candidates.empty()) present = candidates.begin();
  if (present == candidates.end()) return std::nullopt;
  change_meter(window.zones[*present].id);
  return *present;
}

void Platform::change_meter(const std::string& id) {
  if (id == meter_) return;
  meter_ = id;
  if (learned_.size() >= kMostSavedPlatforms && !learned_.contains(id)) learned_.clear();
  last_read_.reset();
  refers_to_.reset();
  pending_ = deficit_ = {};
  parts_then_.reset();
  rest_power_ = {};
  state_ = {};
}

void Platform::lose_power() {
  state_.power.reset();
  state_.rest_power.reset();
  learned_[meter_].wall.interrupt();
}

void Platform::read_meter(const Window& window, std::size_t zone) {
  const ZoneAttribution& energy = window.energies[zone];
  if (!window.readings[zone]) return lose_power();
  last_read_ = window.at.boottime;
  const Nanoseconds refers_to = window.at.boottime - window.ages[zone].value_or(ReadingAge{}).behind;
  if (!energy.read || !refers_to_) {  // the beginning of the next step
    lose_power();
    refers_to_ = refers_to;
    pending_ = {};
    parts_then_.reset();
    return;
  }
  pending_ += energy.energy;
  // A reading that is late makes the next step longer.
  if (refers_to - *refers_to_ < kShortestPowerSpan) return;
  evaluate({*std::exchange(refers_to_, refers_to), refers_to, std::exchange(pending_, {})});
}

void Platform::evaluate(const PlatformStep& step) {
  Learned& learned = learned_[meter_];
  state_.power = mean_power(step.energy, step.to - step.from);
  if (parts_.empty()) {
    state_.rest_power.reset();
    return;
  }
  learned.lag.add(step, history_);
  add_rest(step, learned.lag.lag().value_or(Nanoseconds{0}));
}

void Platform::add_rest(const PlatformStep& step, Nanoseconds lag) {
  const Nanoseconds span = step.to - step.from;
  const auto parts_now = history_.at(step.to - lag);
  const auto drawn = history_.between(step.from - lag, step.to - lag);
  const auto parts_then = std::exchange(parts_then_, parts_now);
  WallLine& wall = learned_[meter_].wall;
  if (!drawn) {
    state_.rest_power.reset();
    return wall.interrupt();
  }
  state_.rest_power = mean_power(step.energy - *drawn, span);
  rest_power_.add(span, *drawn, step.energy);
  wall.add(span, *drawn, step.energy);
  // From one step to the next, even if the lag is another: the counters of platform, parts and rest fit.
  const Microjoules rest = step.energy - (parts_then ? *parts_now - *parts_then : *drawn) - deficit_;
  state_.rest = std::max(rest, Microjoules{});
  deficit_ = state_.rest - rest;
  state_.knows_rest = true;
}

std::vector<SavedPlatform> Platform::save() const {
  std::vector<SavedPlatform> saved;
  for (const auto& [id, learned] : learned_) saved.push_back({id, learned.lag.lag(), learned.wall.memory()});
  return saved;
}

void Platform::restore(const std::vector<SavedPlatform>& saved) {
  for (const SavedPlatform& one : saved) {
    if (learned_.size() >= kMostSavedPlatforms) return;
    Learned& learned = learned_[one.zone];
    if (one.lag) learned.lag.restore(*one.lag);
    learned.wall.restore(one.wall);
  }
}

}  // namespace keplerd
