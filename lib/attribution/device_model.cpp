// SPDX-License-Identifier: Apache-2.0
#include "attribution/device_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attribution/model/arithmetic.h"

namespace keplerd {
namespace {

constexpr Nanoseconds kHour = std::chrono::hours(1);
constexpr std::int64_t kUnused = 50;  // less than this part of a window

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

}  // namespace

void IdlePower::take(Microjoules energy, Nanoseconds window) {
  if (since_use_ < kAfterUse) {
    since_use_ += window;
    return;
  }
  lesson_.microjoules += static_cast<double>(energy.value);
  lesson_.time += window;
  ++lesson_.windows;
  if (lesson_.time < kLesson || lesson_.windows < kFewestWindows) return;
  const Lesson lesson = std::exchange(lesson_, {});
  lowest_ = std::min(lowest_, lesson.microjoules / 1e6 / to_seconds(lesson.time));
  age_ += lesson.time;
  if (age_ < kHour) return;
  lowest_before_ = std::exchange(lowest_, kNone);
  age_ = Nanoseconds{0};
}

void IdlePower::interrupt() {
  lesson_ = {};
  since_use_ = Nanoseconds{0};
}

std::optional<double> IdlePower::watts() const {
  const double lowest = std::min(lowest_, lowest_before_);
  return lowest == kNone ? std::nullopt : std::optional(lowest);
}

void DeviceModel::begin(const UsageSample& usage, const Contenders& contenders) {
  window_ = contenders.window;
  devices_.clear();
  if (usage.devices.empty()) return;
  std::vector<std::size_t> outside(usage.processes.size(), kNowhere);
  for (std::size_t i = 0; i < contenders.outside.size(); ++i) outside[contenders.outside[i]] = i;
  for (const DeviceUsage& device : usage.devices) {
    Weights& weights = devices_[device.address];
    weights.contenders.assign(contenders.size(), 0);
    weights.process.assign(usage.processes.size(), 0);
    weights.other.assign(usage.groups.size(), 0);
    for (const EngineUse& use : device.uses) add(use, 1 + usage.groups.size(), outside, weights);
  }
}

void DeviceModel::add(const EngineUse& use, std::size_t first_outside,
                      const std::vector<std::size_t>& outside, Weights& weights) {
  const std::int64_t time = use.time.count();
  weights.busy += use.time;
  if (use.process != kNoProcess) weights.process[use.process] += time;
  if (use.group != kNoGroup) {
    weights.contenders[1 + use.group] += time;
    if (use.process == kNoProcess) weights.other[use.group] += time;
  } else if (use.process != kNoProcess && outside[use.process] != kNowhere) {
    weights.contenders[first_outside + outside[use.process]] += time;
  } else {
    weights.nobody += time;
  }
}

std::optional<Weighing> DeviceModel::weigh(const DrawnEnergy& drawn) {
  const auto device = devices_.find(drawn.zone.device);
  if (device == devices_.end() || window_ <= Nanoseconds{0}) return std::nullopt;
  const Weights& weights = device->second;
  return Weighing{.idle = idle_of(drawn, weights.busy),
                  .contenders = weights.contenders,
                  .process = weights.process,
                  .other = weights.other,
                  .nobody = weights.nobody};
}

Microjoules DeviceModel::idle_of(const DrawnEnergy& drawn, Nanoseconds busy) {
  IdlePower& idle = idle_[drawn.zone.id];
  const double seconds = to_seconds(drawn.span);
  if (drawn.span == window_) busy < window_ / kUnused ? idle.take(drawn.energy, window_) : idle.interrupt();
  if (busy == Nanoseconds{0}) return drawn.energy;
  const auto watts = idle.watts();
  const double part = std::max(0.0, 1 - to_seconds(busy) / to_seconds(window_));
  const double energy = watts ? *watts * seconds * 1e6 : static_cast<double>(drawn.energy.value) * part;
  return std::clamp(Microjoules{std::llround(std::min(energy, 1e18))}, Microjoules{}, drawn.energy);
}

}  // namespace keplerd
