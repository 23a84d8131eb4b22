// SPDX-License-Identifier: Apache-2.0
#include "meters/perf/event_counts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <linux/perf_event.h>

namespace keplerd::perf {
namespace {

constexpr std::uint64_t kOthers = 0;  // in place of an identity: all that runs in no cgroup that is counted
constexpr int kMostFailures = 3;      // until they are a problem; the first reading is one of them

std::optional<PerfReading> step_between(const PerfReading& before, const PerfReading& now) {
  if (now.count < before.count || now.enabled < before.enabled || now.running < before.running)
    return std::nullopt;
  return PerfReading{now.count - before.count, now.enabled - before.enabled, now.running - before.running};
}

void add_step(const PerfReading& step, PerfReading& sum) {
  sum.count += step.count;
  sum.enabled += step.enabled;
  sum.running += step.running;
}

}  // namespace

std::optional<Count> extrapolate(const PerfReading& sum) {
  constexpr double kMost = 1LL << 50;  // more than all CPUs can count in ten minutes
  if (sum.running < sum.enabled / 4) return std::nullopt;
  const double scale =
      sum.running == 0 ? 1
                       : std::max(1.0, static_cast<double>(sum.enabled) / static_cast<double>(sum.running));
  const double count = scale * static_cast<double>(sum.count);
  if (count > kMost) return std::nullopt;
  return Count{std::llround(count)};
}

EventCounts::EventCounts(const Event& event, OpenPerfCounter open)
    : event_(event), open_(std::move(open)), accounts_(event.kind) {}

Result<EventCounts::Counters> EventCounts::open(int directory) const {
  Counters counters;
  for (const CpuUsage& cpu : cpus_) {
    PerfEvent event{.type = event_.type, .config = event_.config, .cpu = cpu.number, .cgroup = directory};
    // Generalized events of a hybrid processor name the PMU of the core.
    const auto pmu = event.type == PERF_TYPE_HARDWARE ? pmus_.find(cpu.number) : pmus_.end();
    if (pmu != pmus_.end()) event.config |= std::uint64_t{pmu->second} << PERF_PMU_TYPE_SHIFT;
    auto counter = open_(event);
    if (!counter) return counter.error();
    counters.of_cpus.push_back(*std::move(counter));
  }
  counters.last.resize(counters.of_cpus.size());
  return counters;
}

Result<Done> EventCounts::begin(const std::vector<CpuUsage>& cpus, const Pmus& pmus) {
  cpus_ = cpus;
  pmus_ = pmus;
  auto all = open(-1);
  if (!all) return all.error();
  all_ = *std::move(all);
  return Done{};
}

Result<Done> EventCounts::add(std::uint64_t cgroup, int directory) {
  if (cgroups_.contains(cgroup)) return Done{};
  auto counters = open(directory);
  if (!counters) return counters.error();
  cgroups_.emplace(cgroup, *std::move(counters));
  return Done{};
}

void EventCounts::keep(const std::set<std::uint64_t>& cgroups) {
  std::erase_if(cgroups_, [&](const auto& one) { return !cgroups.contains(one.first); });
}

// Nothing if the step of any CPU is not known. `always_runs`: a counter that stands still is none any more.
std::optional<EventCounts::Sums> EventCounts::read(Counters& counters, bool always_runs) {
  Sums sums;
  bool is_known = true;
  for (std::size_t i = 0; i < cpus_.size(); ++i) {
    auto& last = counters.last[i];
    const auto reading = counters.of_cpus[i]->read();
    const auto step = reading && last ? step_between(*last, *reading) : std::nullopt;
    if (always_runs) is_lost_ = is_lost_ || !reading || (step && step->enabled == 0);
    is_known = is_known && step;
    last = reading ? std::optional(*reading) : std::nullopt;
    if (step) add_step(*step, sums[cpus_[i].die]);
  }
  return is_known ? std::optional(std::move(sums)) : std::nullopt;
}

// Fails if what was counted of all that runs is not known. Sets `held` to the cgroups that are measured from
// now on, or still are.
Result<meters::Steps> EventCounts::take_steps(meters::Accounts::Held& held) {
  meters::Steps steps;
  std::map<int, Count> measured;  // by die
  for (auto& [cgroup, counters] : cgroups_) {
    const bool has_begun = counters.last.front().has_value();
    const auto sums = read(counters, false);
    std::map<int, Count> counts;
    bool is_known = sums.has_value();
    for (const auto& [die, sum] : sums ? *sums : Sums()) {
      const auto count = extrapolate(sum);
      is_known = is_known && count;
      if (count) counts[die] = *count;
    }
    if (is_known || !has_begun) held.emplace(cgroup, cgroup);
    if (!is_known) continue;
    for (const auto& [die, count] : counts) {
      steps[{cgroup, die}] = {count, count};
      measured[die] += count;
    }
  }
  const auto all = read(all_, true);
  for (const auto& [die, sum] : all ? *all : Sums()) {
    const auto count = extrapolate(sum);
    if (!count) return Error{.message = "others use the hardware counters"};
    const Count rest = std::max(*count - measured[die], Count{});
    steps[{kOthers, die}] = {rest, rest};
  }
  if (!all) return Error{.message = "the counters of all that runs could not be read"};
  return steps;
}

std::map<std::string, std::string> EventCounts::read(Nanoseconds now) {
  meters::Accounts::Held held;
  const auto steps = take_steps(held);
  failures_ = steps ? 0 : failures_ + 1;
  problem_ = failures_ < kMostFailures ? std::string() : steps.error().message;
  meters::Dies dies;
  for (const CpuUsage& cpu : cpus_) dies.emplace(cpu.die, cpu.die);
  accounts_.take(now, steps, held, dies);
  return accounts_.texts(problem_);
}

}  // namespace keplerd::perf
