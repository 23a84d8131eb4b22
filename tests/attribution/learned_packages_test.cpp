// SPDX-License-Identifier: Apache-2.0
// Division by what was learned, on a host with two packages that have memory of their own.
#include <array>
#include <random>

#include <gtest/gtest.h>

#include "attribution/small_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

// Each package draws 10 W when idle, each memory 2 W. On packages, `a` draws 5 W a CPU, `b` 15 W and the
// others 10 W; of memory, `a` draws 4 W, `b` 1 W and the others 2 W.
class LearnedPackages : public ::testing::Test {
 protected:
  enum Service : std::size_t { kA, kB, kC, kD };
  static constexpr std::array kWatts{5.0, 15.0, 10.0, 10.0}, kMemoryWatts{4.0, 1.0, 2.0, 2.0};

  LearnedPackages() {
    host.packages = 2;
    for (const Service service : {kA, kB, kC}) host.add("/" + std::to_string(service) + ".service", 0);
    host.add("/3.service", 1);
  }

  // What the services use, in CPUs.
  const Attribution& run(const std::array<double, 4>& used) {
    std::array<double, 2> watts{10, 10}, memory_watts{2, 2};
    for (std::size_t i = 0; i < used.size(); ++i) {
      host.run(i, used[i]);
      watts[package_of[i]] += kWatts[i] * used[i];
      memory_watts[package_of[i]] += kMemoryWatts[i] * used[i];
    }
    for (std::size_t package = 0; package < 2; ++package) {
      host.draw(watts[package], 1s, package);
      host.draw(memory_watts[package], 1s, 2 + package);
    }
    return host.sample();
  }
  // At random.
  void vary(int windows) {
    std::uniform_real_distribution<double> use{0.05, 0.65};
    for (int i = 0; i < windows; ++i) run({use(random), use(random), use(random), use(random)});
  }
  void learn(int windows) {
    for (int i = 0; i < windows / 10; ++i) run({0.01, 0.01, 0.01, 0.01});
    vary(windows - windows / 10);
  }
  void move(Service service, std::size_t to_package) {
    package_of[service] = to_package;
    host.move(service, to_package);
  }

  SmallHost host{{package(0), package(1), memory(0), memory(1)}};
  std::array<std::size_t, 4> package_of{0, 0, 0, 1};
  std::mt19937 random{1};
};

TEST_F(LearnedPackages, EachIsDividedAmongThoseWhoRanOnIt) {
  learn(1200);
  const auto& zones = run({0.5, 0.5, 0.5, 0.5}).zones;
  EXPECT_NEAR(joules(zones[0].group[kA]), 2.5, 0.4);
  EXPECT_NEAR(joules(zones[0].group[kB]), 7.5, 0.4);
  EXPECT_EQ(zones[0].group[kD], Microjoules{0});
  EXPECT_NEAR(joules(zones[1].group[kD]), 5, 0.4);
  EXPECT_NEAR(joules(zones[2].group[kA]), 2, 0.3);
  EXPECT_NEAR(joules(zones[2].group[kB]), 0.5, 0.3);
}

TEST_F(LearnedPackages, MemoryLearnsNothingFromPackages) {
  learn(1200);
  move(kA, 1);
  move(kB, 1);
  vary(20);
  const auto& zones = run({0.5, 0.5, 0.5, 0.5}).zones;
  EXPECT_NEAR(joules(zones[1].group[kA]), 2.5, 0.4);
  EXPECT_NEAR(joules(zones[1].group[kB]), 7.5, 0.4);
  EXPECT_NEAR(joules(zones[3].group[kA]), 2, 0.05);
  EXPECT_NEAR(joules(zones[3].group[kB]), 0.5, 0.05);
}

}  // namespace
}  // namespace keplerd
