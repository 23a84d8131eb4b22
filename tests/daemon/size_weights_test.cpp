// SPDX-License-Identifier: Apache-2.0
#include "ledger/size_weights.h"

#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr Uid kAlice = 1000, kBob = 1001;

GroupLimits cpus(Nanoseconds time) { return {.cpu_time = time, .memory = {}, .vcpus = {}}; }
GroupLimits memory(std::int64_t bytes) { return {.cpu_time = {}, .memory = bytes, .vcpus = {}}; }
GroupLimits both(Nanoseconds time, std::int64_t bytes) {
  return {.cpu_time = time, .memory = bytes, .vcpus = {}};
}

// Eight CPUs and 32 GiB.
struct SizeWeights : ::testing::Test {
  SizeWeights() { usage.host = {8, 32 * kGiB}; }

  std::size_t add(const GroupLimits& limits = {}, std::size_t parent = kNoGroup) {
    usage.groups.push_back({.parent = parent, .path = "/x"});
    usage.limits.push_back(limits);
    return usage.groups.size() - 1;
  }
  void add_workload(std::size_t group, std::optional<Uid> claimant = {}, VmSize size = {}) {
    workloads.push_back({.group = group, .size = size, .claimant = claimant});
  }
  std::vector<double> weights() const { return size_weights(usage, workloads); }

  UsageSample usage;
  std::vector<SizedWorkload> workloads;
};

using Fractions = std::vector<double>;

TEST_F(SizeWeights, AreTheMeanOfCpuAndMemory) {
  add_workload(add(both(2s, 16 * kGiB)));
  add_workload(add({.cpu_time = {}, .memory = 2 * kGiB, .vcpus = 1}));
  EXPECT_EQ(weights(), (Fractions{0.375, 0.09375}));
}

TEST_F(SizeWeights, AreOfTheOneThatIsLimited) {
  add_workload(add(cpus(2s)));
  add_workload(add(memory(4 * kGiB)));
  add_workload(add());
  EXPECT_EQ(weights(), (Fractions{0.25, 0.125, 0}));
}

TEST_F(SizeWeights, AreOfTheCpusWhereTheMemoryOfTheHostIsNotKnown) {
  usage.host.memory = 0;
  add_workload(add(both(2s, 16 * kGiB)));
  EXPECT_EQ(weights(), (Fractions{0.25}));
}

TEST_F(SizeWeights, NothingIsLargerThanTheHost) {
  add_workload(add(both(100s, 1024 * kGiB)));
  EXPECT_EQ(weights(), (Fractions{1}));
}

TEST_F(SizeWeights, TheTightestLimitAboveBinds) {
  const auto slice = add(cpus(2s));
  const auto inner = add(cpus(6s), slice);
  add_workload(add(both(4s, 8 * kGiB), inner));
  EXPECT_EQ(weights(), (Fractions{0.25}));
}

TEST_F(SizeWeights, AVmsAreItsVcpusUnlessItsGroupMayUseLess) {
  add_workload(add({.cpu_time = 8s, .memory = {}, .vcpus = 2}));
  add_workload(add({.cpu_time = 1s, .memory = {}, .vcpus = 4}));
  EXPECT_EQ(weights(), (Fractions{0.25, 0.125}));
}

TEST_F(SizeWeights, InALimitedGroupAreNoMoreThanItTogether) {
  const auto slice = add(both(2s, 8 * kGiB));
  for (int i = 0; i < 4; ++i) add_workload(add({}, slice));
  add_workload(add(cpus(1s)));
  EXPECT_EQ(weights(), (Fractions{0.0625, 0.0625, 0.0625, 0.0625, 0.125}));
}

TEST_F(SizeWeights, OfMoreThanTheHostAreReducedToIt) {
  for (const Nanoseconds time : {6s, 6s, 4s}) add_workload(add(cpus(time)));
  EXPECT_EQ(weights(), (Fractions{0.375, 0.375, 0.25}));
}

TEST_F(SizeWeights, AClaimFillsOnlyWhatOthersLeave) {
  add_workload(add(cpus(6s)));
  for (int i = 0; i < 100; ++i) add_workload(add(), kAlice, {.vcpus = 64, .memory = 1024 * kGiB});
  const auto parts = weights();
  EXPECT_EQ(parts[0], 0.75);
  EXPECT_DOUBLE_EQ(std::accumulate(parts.begin() + 1, parts.end(), 0.0), 0.25);
}

TEST_F(SizeWeights, AUserCannotClaimMoreByClaimingOften) {
  for (int i = 0; i < 1000; ++i) add_workload(kNoGroup, kAlice, {.vcpus = 8, .memory = {}});
  add_workload(kNoGroup, kBob, {.vcpus = 8, .memory = {}});
  const auto parts = weights();
  EXPECT_DOUBLE_EQ(parts[1000], 0.5);
  EXPECT_DOUBLE_EQ(std::accumulate(parts.begin(), parts.end(), 0.0), 1);
}

TEST_F(SizeWeights, AClaimIsBoundByTheLimitsOfItsGroup) {
  const auto slice = add(both(1s, 4 * kGiB));
  add_workload(slice, kAlice, {.vcpus = 8, .memory = 32 * kGiB});
  EXPECT_EQ(weights(), (Fractions{0.125}));
}

// No claim, however made, changes what those have who were sold something; nothing is negative, and the sum
// is at most the host.
TEST_F(SizeWeights, OfThoseWhoWereSoldSomethingDoNotDependOnClaims) {
  std::mt19937 random(7);
  const auto below = [&](int most) { return std::uniform_int_distribution<int>(0, most - 1)(random); };
  const auto some = [&] {
    GroupLimits limits;
    if (below(3) == 0) limits.cpu_time = 100ms * below(100);
    if (below(3) == 0) limits.memory = kGiB * below(40);
    if (below(5) == 0) limits.vcpus = below(10);
    return limits;
  };
  for (int round = 0; round < 2'000; ++round) {
    usage.groups.clear();
    usage.limits.clear();
    workloads.clear();
    usage.host = {1 + below(16), kGiB * below(64)};
    for (int i = 0; i < 12; ++i) {
      const auto group = add(some(), i > 0 && below(2) == 0 ? static_cast<std::size_t>(below(i)) : kNoGroup);
      if (below(2) == 0) add_workload(group);
    }
    const auto sold = weights();
    const std::size_t count = sold.size();
    for (int i = 0; i < 12; ++i)
      add_workload(add(some()), below(2) == 0 ? kAlice : kBob,
                   {.vcpus = 1 + below(99), .memory = kGiB * (1 + below(99))});
    const auto all = weights();
    double sum = 0;
    for (const double part : all) {
      ASSERT_GE(part, 0);
      sum += part;
    }
    ASSERT_LE(sum, 1 + 1e-9);
    for (std::size_t w = 0; w < count; ++w) ASSERT_EQ(all[w], sold[w]);
  }
}

TEST_F(SizeWeights, WithoutLimitsAreNone) {
  usage.groups.push_back({.path = "/a"});
  add_workload(0);
  EXPECT_EQ(weights(), (Fractions{0}));
}

}  // namespace
}  // namespace keplerd
