// SPDX-License-Identifier: Apache-2.0
#include "attribution/platform/energy_history.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;

TEST(EnergyHistory, InterpolatesBetweenTwoPoints) {
  EnergyHistory history;
  history.add(10s, {100});
  history.add(12s, {300});
  EXPECT_EQ(history.at(10s), Microjoules{100});
  EXPECT_EQ(history.at(11s), Microjoules{200});
  EXPECT_EQ(history.at(12s), Microjoules{300});
  EXPECT_EQ(history.between(10s, 11500ms), Microjoules{150});
}

TEST(EnergyHistory, KnowsNothingBeforeItsFirstPointAndAfterItsLast) {
  EnergyHistory history;
  EXPECT_EQ(history.at(0s), std::nullopt);
  history.add(10s, {100});
  history.add(12s, {300});
  EXPECT_EQ(history.at(9999ms), std::nullopt);
  EXPECT_EQ(history.at(12001ms), std::nullopt);
  EXPECT_EQ(history.between(9s, 11s), std::nullopt);
  history.clear();
  EXPECT_EQ(history.at(11s), std::nullopt);
}

TEST(EnergyHistory, IgnoresTimesThatAreNotLater) {
  EnergyHistory history;
  history.add(10s, {100});
  history.add(10s, {999});
  history.add(9s, {999});
  history.add(11s, {200});
  EXPECT_EQ(history.at(10s), Microjoules{100});
  EXPECT_EQ(history.at(10500ms), Microjoules{150});
}

TEST(EnergyHistory, IsBoundedHoweverOftenItIsAddedTo) {
  EnergyHistory history;
  for (int i = 0; i <= 1'000'000; ++i) history.add(1ms * i, {i});
  EXPECT_EQ(history.at(1000s), Microjoules{1'000'000}) << "the latest is always there";
  EXPECT_EQ(history.at(850s), Microjoules{850'000}) << "minutes remain";
  EXPECT_EQ(history.at(700s), std::nullopt) << "not more";
}

}  // namespace
}  // namespace keplerd
