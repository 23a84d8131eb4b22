// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/agreement.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "attribution/model/window_fixture.h"

namespace keplerd {
namespace {

// A package on which workloads 1, 2, ... use a CPU each.
class Package {
 public:
  explicit Package(std::size_t workloads) {
    WindowFixture f;
    for (std::size_t i = 1; i <= workloads; ++i) f.contenders.push_back({.cpu_seconds = 1, .workload = i});
    slots_.follow(f.window(), std::vector<double>(workloads, 1), filter_);
  }
  // What it knows of a workload: ln(1 + d), and by how much that is more exact than the first guess.
  void learn(std::uint64_t workload, double log, double times) {
    const double d = std::exp(log) - 1;
    filter_.assign(slots_.slot_of(workload), d, kDeviationVariance / times);
  }
  LearnedPowers powers() const { return {&filter_, &slots_}; }
  double log(std::uint64_t workload, std::vector<LearnedPowers> others) const {
    return std::log(1 + agreed_deviations(powers(), others).at(slots_.slot_of(workload)));
  }

 private:
  PowerFilter filter_{kSlots};
  WorkloadSlots slots_;
};

TEST(Agreement, WithoutOtherPackagesTheOwnPowersHold) {
  Package package(2);
  package.learn(1, 0.25, 4);
  EXPECT_NEAR(package.log(1, {}), 0.25, 1e-12);
  EXPECT_NEAR(package.log(2, {}), 0, 1e-12);
}

// Each has learned three times as much as the first guess was worth: together, six of seven parts.
TEST(Agreement, WhatAllHaveLearnedCountsAndTheFirstGuessOnce) {
  Package first(2), second(2);
  first.learn(1, 0.15, 4);
  first.learn(2, -0.15, 4);
  second.learn(1, 0.15, 4);
  second.learn(2, -0.15, 4);
  // Without the first guess, 0: 0.2 each. The difference of the packages is 0.
  const double weight = std::exp(0.3), other = std::exp(-0.3);  // precisions rise with (1 + d)^2
  EXPECT_NEAR(first.log(1, {second.powers()}), 0.15 * (4 + 4) * weight / ((4 + 3) * weight), 1e-9);
  EXPECT_NEAR(first.log(2, {second.powers()}), -0.15 * (4 + 4) * other / ((4 + 3) * other), 1e-9);
  EXPECT_NEAR(first.log(1, {second.powers(), second.powers()}), 0.15 * 12 / 10, 1e-9);
}

TEST(Agreement, WhoHasLearnedMoreCountsMore) {
  Package first(3), second(3);
  for (const std::uint64_t workload : {1, 2, 3}) {
    first.learn(workload, 0, 1000);
    second.learn(workload, 0, 1000);
  }
  first.learn(3, 0.1, 2);
  EXPECT_LT(std::abs(first.log(3, {second.powers()})), 0.001);
  EXPECT_LT(std::abs(second.log(3, {first.powers()})), 0.001);
}

TEST(Agreement, WhatTheMeanWorkloadDrawsIsNoDifference) {
  Package first(2), second(2);
  first.learn(1, 0.2, 1e4);
  first.learn(2, -0.2, 1e4);
  second.learn(1, 0.2 + 0.4, 1e4);
  second.learn(2, -0.2 + 0.4, 1e4);
  EXPECT_NEAR(first.log(1, {second.powers()}), 0.2, 1e-3);
  EXPECT_NEAR(second.log(1, {first.powers()}), 0.6, 1e-3);
}

TEST(Agreement, OneWorkloadInCommonChangesNothing) {
  Package first(2), second(1);
  first.learn(1, 0.2, 4);
  second.learn(1, -0.5, 4);
  EXPECT_NEAR(first.log(1, {second.powers()}), 0.2, 1e-12);
  EXPECT_NEAR(second.log(1, {first.powers()}), -0.5, 1e-12);
  first.learn(2, 0.1, 4);
  EXPECT_NEAR(first.log(2, {second.powers()}), 0.1, 1e-12);
}

// A filter that has become uncertain again keeps its powers, but hardly knows them: many such filters do not
// make them larger and larger.
TEST(Agreement, WhatHasBecomeUncertainCountsLittle) {
  Package package(2);
  package.learn(1, 0.2, 1.05);
  package.learn(2, -0.2, 1.05);
  const std::vector<LearnedPowers> others(7, package.powers());
  EXPECT_NEAR(package.log(1, others), (0.2 * 1.05 + 7 * 0.05 * 2 * 0.2) / (1.05 + 7 * 0.05), 1e-9);
}

TEST(Agreement, WhoHasLearnedNothingChangesNothing) {
  Package first(2), second(2);
  first.learn(1, 0.2, 4);
  first.learn(2, -0.2, 4);
  EXPECT_NEAR(first.log(1, {second.powers()}), 0.2, 1e-12);
  EXPECT_NEAR(second.log(2, {Package(2).powers()}), 0, 1e-12);
}

}  // namespace
}  // namespace keplerd
