// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/placement.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace keplerd {
namespace {

constexpr int kRounds = 8;
constexpr double kLeastBusy = 1e-6;   // a CPU whose ticks show nothing may still have run something
constexpr double kBusyEnough = 0.05;  // the frequency of a CPU that is less busy says nothing of the load

// The chance that two siblings are busy at the same time. It is the product if they run at random, and the
// least possible one if the kernel fills idle cores first; where threads run is not known.
double both_busy(double one, double other) { return (one * other + std::max(0.0, one + other - 1)) / 2; }

double sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

Placement::Placement(CpuTopology topology) : cpus_(topology.core.size()), sibling_(cpus_) {
  std::map<std::size_t, std::size_t> last;  // CPU of a core
  for (std::size_t cpu = 0; cpu < cpus_; ++cpu) {
    sibling_[cpu] = cpu;
    const auto [other, alone] = last.emplace(topology.core[cpu], cpu);
    if (alone) continue;
    sibling_[cpu] = other->second;
    sibling_[other->second] = cpu;
    other->second = cpu;
  }
}

void Placement::place(const CpuWindow& window) {
  const std::size_t classes = window.classes.size();
  class_use_.assign(classes, 0);
  for (const ContenderUse& contender : window.contenders)
    class_use_[contender.cpu_class] += contender.cpu_seconds / window.seconds;
  placed_.resize(classes * cpus_);
  for (std::size_t m = 0; m < classes; ++m) {
    for (std::size_t c = 0; c < cpus_; ++c)
      row(m)[c] = window.classes[m][c] != 0 ? std::max(window.busy[c], kLeastBusy) : 0;
  }
  scale_rows();
  for (int round = 0; classes > 1 && round < kRounds; ++round) {
    scale_columns(window);
    scale_rows();
  }
}

// A class used what it used, wherever that was.
void Placement::scale_rows() {
  for (std::size_t m = 0; m < class_use_.size(); ++m) {
    const double placed = sum(row(m));
    const double factor = placed > 0 ? class_use_[m] / placed : 0;
    for (double& cell : row(m)) cell *= factor;
  }
}

// A CPU was as busy as its ticks say, whatever ran on it. CPU time and ticks are read at slightly different
// times, so that their sums differ.
void Placement::scale_columns(const CpuWindow& window) {
  const double used = sum(class_use_), busy = sum(window.busy);
  if (used <= 0 || busy <= 0) return;
  for (std::size_t c = 0; c < cpus_; ++c) {
    double placed = 0;
    for (std::size_t m = 0; m < class_use_.size(); ++m) placed += row(m)[c];
    if (placed <= 0) continue;
    const double factor = (window.busy[c] * used / busy + 1e-9) / placed;
    for (std::size_t m = 0; m < class_use_.size(); ++m) row(m)[c] *= factor;
  }
}

void Placement::view_cpus(const CpuWindow& window, std::span<const std::size_t> cpus,
                          ZoneActivity& activity) const {
  activity.cpus = cpus.size();
  activity.cores = 0;
  activity.busiest = activity.siblings = activity.busy_cores = 0;
  double asleep = 1, cycles = 0, read = 0;
  for (const std::size_t c : cpus) {
    const double busy = window.busy[c];
    asleep *= 1 - busy;
    activity.busiest = std::max(activity.busiest, busy);
    if (busy > kBusyEnough && window.khz[c] > 0) {
      cycles += busy * window.khz[c];
      read += busy;
    }
    const std::size_t sibling = sibling_[c];
    if (sibling < c) continue;  // its core was counted
    ++activity.cores;
    const double other = sibling == c ? 0 : window.busy[sibling];
    activity.siblings += both_busy(busy, other);
    activity.busy_cores += 1 - (1 - busy) * (1 - other);
  }
  activity.awake = 1 - asleep;
  activity.khz = read > 0 ? cycles / read : 0;
}

void Placement::view(const CpuWindow& window, std::span<const std::size_t> cpus,
                     ZoneActivity& activity) const {
  view_cpus(window, cpus, activity);
  std::vector<double> here(window.classes.size(), 0),
      effective(window.classes.size(), 0);  // of a class's use
  for (std::size_t m = 0; m < window.classes.size(); ++m) {
    if (class_use_[m] <= 0) continue;
    for (const std::size_t c : cpus) {
      const double busy = window.busy[c];
      const bool is_alone = sibling_[c] == c || busy <= 0;
      const double shared = is_alone ? 0 : both_busy(busy, window.busy[sibling_[c]]) / busy;
      here[m] += row(m)[c] / class_use_[m];
      effective[m] += row(m)[c] * (1 - (1 - kSiblingShare) * shared) / class_use_[m];
    }
  }
  const std::size_t count = window.contenders.size();
  activity.use.resize(count);
  activity.effective.resize(count);
  for (std::size_t g = 0; g < count; ++g) {
    const ContenderUse& contender = window.contenders[g];
    const double busy = contender.cpu_seconds / window.seconds;
    activity.use[g] = busy * here[contender.cpu_class];
    activity.effective[g] = busy * effective[contender.cpu_class];
  }
  activity.load = sum(activity.use);
  const double weighed = sum(activity.effective);
  if (activity.load <= 0 || weighed <= 0) return;
  for (double& use : activity.effective) use *= activity.load / weighed;
}

}  // namespace keplerd
