// SPDX-License-Identifier: Apache-2.0
#include "attribution/model_input.h"

#include <algorithm>

#include "attribution/model/arithmetic.h"

namespace keplerd {

bool ModelInput::take(const UsageSample& usage, const Contenders& contenders) {
  if (usage.cpus.empty() || contenders.window <= Nanoseconds{0}) return false;
  find_topology(usage.cpus);
  keys_.find(usage, contenders.window, group_keys_);

  contenders_.clear();
  contenders_.push_back({.cpu_seconds = to_seconds(contenders.kernel), .workload = keys_.key_of("kernel")});
  for (std::size_t i = 0; i < contenders.own.size(); ++i)
    contenders_.push_back({to_seconds(contenders.own[i]), usage.groups[i].cpu_class, group_keys_[i]});
  for (const std::size_t process : contenders.outside)
    contenders_.push_back({.cpu_seconds = to_seconds(contenders.process[process])});
  double used = 0;
  for (const ContenderUse& contender : contenders_) used += contender.cpu_seconds;
  measure_cpus(usage.cpus, used / to_seconds(contenders.window));
  classes_ = usage.cpu_classes;
  window_ = {.seconds = to_seconds(contenders.window),
             .busy = busy_,
             .khz = khz_,
             .classes = classes_,
             .contenders = contenders_};
  return true;
}

void ModelInput::find_topology(std::span<const CpuUsage> cpus) {
  const auto same = [](const CpuUsage& cpu, int number) { return cpu.number == number; };
  topology_changed_ = !std::ranges::equal(cpus, numbers_, same);
  if (!topology_changed_) return;
  numbers_.clear();
  dies_.clear();
  topology_.core.clear();
  for (const CpuUsage& cpu : cpus) {
    numbers_.push_back(cpu.number);
    dies_.push_back(cpu.die);
    topology_.core.push_back(cpu.core);
  }
}

// If the ticks of single CPUs are missing or stand still, the load, `used` busy CPUs, is taken to be spread
// evenly.
void ModelInput::measure_cpus(std::span<const CpuUsage> cpus, double used) {
  busy_.assign(cpus.size(), 0);
  khz_.assign(cpus.size(), 0);
  double busy = 0;
  for (std::size_t c = 0; c < cpus.size(); ++c) {
    if (cpus[c].total > 0) busy_[c] = static_cast<double>(cpus[c].busy) / static_cast<double>(cpus[c].total);
    khz_[c] = static_cast<double>(cpus[c].khz);
    busy += busy_[c];
  }
  constexpr double kMuch = 0.2;  // more than ticks may miss
  if (busy > 0 || used < kMuch) return;
  std::ranges::fill(busy_, std::min(1.0, used / static_cast<double>(cpus.size())));
}

std::vector<std::size_t> ModelInput::cpus_of(int zone_index) const {
  std::vector<std::size_t> cpus;
  for (std::size_t c = 0; c < dies_.size(); ++c)
    if (dies_[c] == zone_index) cpus.push_back(c);
  return cpus;
}

}  // namespace keplerd
