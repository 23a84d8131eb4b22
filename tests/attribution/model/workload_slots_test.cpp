// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/workload_slots.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "attribution/model/window_fixture.h"

namespace keplerd {
namespace {

// Follows windows in which workloads have some use each, and answers which slots they have.
class Slots {
 public:
  Slots() {
    PowerObservation first{.watts = 50, .seconds = 1, .awake = 1, .load = 4, .cpus = 8};
    first.share[0] = 1;
    filter.start(first);
  }
  void follow(const std::vector<std::pair<std::uint64_t, double>>& uses, int windows = 1) {
    WindowFixture f;
    std::vector<double> use;
    for (const auto& [id, busy] : uses) {
      f.contenders.push_back({.cpu_seconds = busy, .workload = id});
      use.push_back(busy);
    }
    for (int i = 0; i < windows; ++i) slots.follow(f.window(), use, filter);
  }
  std::size_t of(std::uint64_t id) const {
    const std::vector<ContenderUse> contenders{{.cpu_seconds = 1, .workload = id}};
    std::vector<std::size_t> found;
    slots.find(contenders, found);
    return found.front();
  }
  PowerFilter filter{kSlots};
  WorkloadSlots slots;
};

TEST(WorkloadSlots, EachWorkloadGetsASlotWhileThereAreFreeOnes) {
  Slots s;
  s.follow({{11, 0.1}, {12, 2}});
  EXPECT_EQ(s.of(12), 1U);
  EXPECT_EQ(s.of(11), 2U);
}

TEST(WorkloadSlots, ContendersWithoutAWorkloadShareTheSlotOfOthers) {
  Slots s;
  s.follow({{0, 1}, {12, 2}});
  EXPECT_EQ(s.of(0), 0U);
  EXPECT_EQ(s.of(99), 0U);
}

TEST(WorkloadSlots, ContendersOfOneWorkloadShareItsSlot) {
  Slots s;
  s.follow({{7, 0.5}, {7, 0.5}, {8, 0.7}});
  EXPECT_EQ(s.of(7), 1U);  // together the largest
  EXPECT_EQ(s.of(8), 2U);
}

TEST(WorkloadSlots, ASlotIsFreedWhenItsWorkloadEnds) {
  Slots s;
  s.follow({{11, 1}, {12, 2}}, 10);
  s.follow({{11, 1}});
  EXPECT_EQ(s.of(12), 0U);
  s.follow({{11, 1}, {13, 1}}, 20);
  EXPECT_EQ(s.of(13), 1U);
}

TEST(WorkloadSlots, WhatWasLearnedIsThereWhenTheWorkloadIsBack) {
  Slots s;
  s.follow({{11, 1}, {12, 2}}, 10);
  s.filter.assign(s.of(12), 0.7, 0.01);
  s.follow({{11, 1}}, 10);
  s.follow({{11, 1}, {12, 2}}, 10);
  ASSERT_NE(s.of(12), 0U);
  EXPECT_DOUBLE_EQ(s.filter.deviation(s.of(12)), 0.7);
  EXPECT_DOUBLE_EQ(s.filter.deviation_covariance(s.of(12), s.of(12)), 0.01);
}

std::vector<std::pair<std::uint64_t, double>> many(std::size_t count, double use) {
  std::vector<std::pair<std::uint64_t, double>> uses;
  for (std::size_t i = 1; i <= count; ++i) uses.emplace_back(i, use + 1e-6 * static_cast<double>(i));
  return uses;
}

TEST(WorkloadSlots, TheLargestHaveTheSlots) {
  Slots s;
  s.follow(many(kSlots + 9, 0.1));
  for (std::uint64_t id = 1; id <= 10; ++id) EXPECT_EQ(s.of(id), 0U);
  for (std::uint64_t id = 11; id <= kSlots + 9; ++id) EXPECT_NE(s.of(id), 0U);
}

TEST(WorkloadSlots, ANewcomerTakesASlotOnlyIfItIsClearlyLarger) {
  Slots s;
  auto uses = many(kSlots - 1, 0.1);
  s.follow(uses, 2000);
  uses.emplace_back(1000, 0.14);
  s.follow(uses, 2000);
  EXPECT_EQ(s.of(1000), 0U);
  uses.back().second = 0.2;
  s.follow(uses, 2000);
  EXPECT_NE(s.of(1000), 0U);
  EXPECT_EQ(s.of(1), 0U);  // the smallest
}

TEST(WorkloadSlots, OnlySoManyThatEndedAreRemembered) {
  Slots s;
  for (std::uint64_t id = 1; id <= 200; ++id) s.follow({{id, 1}}, 10);
  s.filter.assign(1, 0.5, 0.01);
  s.follow({{1, 1}, {200, 1}}, 10);  // the first was forgotten, so it is new
  ASSERT_NE(s.of(1), 0U);
  EXPECT_DOUBLE_EQ(s.filter.deviation(s.of(1)), 0);
}

}  // namespace
}  // namespace keplerd
