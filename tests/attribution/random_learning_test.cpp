// SPDX-License-Identifier: Apache-2.0
// Five thousand groups that come and go while their power is learned: the invariants hold, and what is kept
// of them is bounded.
#include <deque>
#include <random>

#include <gtest/gtest.h>

#include "attribution/attributor.h"
#include "attribution/invariants.h"
#include "attribution/make_model.h"
#include "attribution/number_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr int kCpus = 64;
constexpr std::size_t kGroups = 5000;
constexpr std::size_t kAnew = 250;  // in each window

TEST(RandomLearning, FiveThousandGroupsMayComeAndGo) {
  NumberHost host({package_zone(), dram_zone()});
  host.give_cpus(kCpus);
  Attributor attributor{make_model()};
  attributor.set_zones(host.zones());
  std::mt19937_64 random(1);
  std::deque<int> groups;
  int learned = 0;
  for (int window = 0; window < 60 && !testing::Test::HasFailure(); ++window) {
    SCOPED_TRACE(window);
    for (; groups.size() > kGroups - kAnew; groups.pop_front()) host.remove_group(groups.front());
    for (std::size_t i = window == 0 ? kGroups : kAnew; i > 0; --i) groups.push_back(host.add_group());
    std::int64_t busy = 0;
    for (const int group : groups) {
      const auto ticks = random() % 4 == 0 ? static_cast<std::int64_t>(random() % 4) : 0;
      host.run_group(group, ticks * 10ms);
      busy += ticks;
    }
    host.run_ticks(busy, kCpus * 100 - busy);
    const Microjoules package{50'000'000 + 20'000 * busy}, dram{2'000'000 + 1'000 * busy};
    host.draw(package, 0);
    host.draw(dram, 1);
    const Sample sample = host.sample(1s);
    const Attribution& result = attributor.attribute(sample);
    const bool first = window == 0;
    expect_invariants(result, sample, {first ? Microjoules{} : package, first ? Microjoules{} : dram});
    learned += attributor.model().in_force() == RulesInForce{"baseline", "learned"} ? 1 : 0;
  }
  EXPECT_GE(learned, 50) << "of 60 windows";
  for (const SavedZoneModel& zone : attributor.model().save()) EXPECT_LE(zone.workloads.size(), 63U);
}

}  // namespace
}  // namespace keplerd
