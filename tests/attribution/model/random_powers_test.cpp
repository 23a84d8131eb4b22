// SPDX-License-Identifier: Apache-2.0
// Hosts by chance: any idle power, any number of CPUs, idle at first or later. On none of them the division
// is far off, and the intervals hold the truth.
#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "attribution/model/placement.h"
#include "attribution/model/zone_power.h"

namespace keplerd {
namespace {

constexpr double kPi = 3.14159265358979;

// Workloads of different power, whose use goes up and down, on CPUs that are as busy as each other.
class RandomHost {
 public:
  RandomHost(unsigned seed, std::size_t cpus, int loaded_first)
      : random_(seed), cpus_(cpus), loaded_first_(loaded_first) {
    idle_ = between(2, 60);
    per_cpu_ = between(0.5, 12);
    awake_ = seed % 2 == 0 ? 0 : between(1, 15);
    std::normal_distribution<double> differs(0, 0.35);
    for (std::size_t g = 0; g < 3 + seed % 4; ++g)
      workloads_.push_back({std::exp(differs(random_)), between(0, 2 * kPi), between(20, 200)});
  }

  // Runs for so many windows of a second; is quiet for the first minute after `loaded_first`.
  void run(int windows) {
    for (int now = 0; now < windows; ++now)
      step(now, now >= loaded_first_ && now < loaded_first_ + 60, now >= 400);
  }

  double error() const {
    double off = 0, all = 0;
    for (const Workload& workload : workloads_) {
      off += std::abs(workload.estimate - workload.truth);
      all += workload.truth;
    }
    return off / all;
  }
  bool holds_the_truth() const {
    return std::ranges::all_of(workloads_, [](const Workload& workload) {
      return std::abs(workload.estimate - workload.truth) <= workload.half_width;
    });
  }
  double idle_error() const { return zone_.idle_watts() / idle_ - 1; }

 private:
  struct Workload {
    double power, phase, period;
    double use = 0, estimate = 0, truth = 0, half_width = 0;
  };

  double between(double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random_);
  }

  void step(int now, bool is_quiet, bool counts) {
    const double all = static_cast<double>(cpus_), part = 0.9 * all / static_cast<double>(workloads_.size());
    double load = 0, present = 0;
    for (Workload& workload : workloads_) {
      const double wave = 0.5 + 0.45 * std::sin(workload.phase + now * 2 * kPi / workload.period);
      workload.use = is_quiet ? 0.002 * part : std::clamp(part * (wave + between(-0.05, 0.05)), 0.0, part);
      load += workload.use;
      present += 1 - std::exp(-workload.use);
    }
    const std::vector<double> busy(cpus_, load / all), khz(cpus_, 0);
    const double awake = awake_ * (1 - std::pow(1 - load / all, all));
    double watts = idle_ + awake;
    std::vector<ContenderUse> contenders;
    for (std::size_t g = 0; g < workloads_.size(); ++g) {
      watts += per_cpu_ * workloads_[g].power * workloads_[g].use;
      contenders.push_back({.cpu_seconds = workloads_[g].use, .workload = g + 1});
    }
    const std::vector<CpuSet> classes{CpuSet(cpus_, 1)};
    const CpuWindow window{1, busy, khz, classes, contenders};
    CpuTopology topology;
    std::vector<std::size_t> cpus;
    for (std::size_t c = 0; c < cpus_; ++c) {
      topology.core.push_back(c);
      cpus.push_back(c);
    }
    Placement placement(topology);
    placement.place(window);
    ZoneActivity activity;
    placement.view(window, cpus, activity);
    zone_.learn(window, activity, watts);
    const PowerDivision& division = zone_.divide(window, activity, watts);
    for (std::size_t g = 0; counts && g < workloads_.size(); ++g) {
      Workload& workload = workloads_[g];
      const double energy = division.share[g] * (watts - division.idle_watts);
      workload.estimate += energy;
      workload.half_width += 1.96 * energy * division.relative_sd[g];
      workload.truth +=
          per_cpu_ * workload.power * workload.use + awake * (1 - std::exp(-workload.use)) / present;
    }
  }

  std::mt19937 random_;
  std::size_t cpus_;
  int loaded_first_;
  double idle_ = 0, per_cpu_ = 0, awake_ = 0;
  std::vector<Workload> workloads_;
  ZonePower zone_;
};

struct Case {
  unsigned seed;
  std::size_t cpus;
  int loaded_first;  // windows
};

class RandomPowers : public testing::TestWithParam<Case> {};

TEST_P(RandomPowers, AreDividedWithinTheirIntervals) {
  RandomHost host(GetParam().seed, GetParam().cpus, GetParam().loaded_first);
  host.run(900);
  EXPECT_LT(host.error(), 0.25);
  EXPECT_TRUE(host.holds_the_truth());
  EXPECT_NEAR(host.idle_error(), 0, 0.08);
}

INSTANTIATE_TEST_SUITE_P(All, RandomPowers,
                         testing::Values(Case{1, 2, 0}, Case{2, 8, 0}, Case{3, 2, 1}, Case{4, 4, 1},
                                         Case{5, 32, 1}, Case{6, 2, 60}, Case{7, 8, 60}, Case{8, 16, 60}));

}  // namespace
}  // namespace keplerd
