// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <type_traits>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;

// Different units do not mix, and a bare number has none.
template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
static_assert(Addable<Microjoules, Microjoules>);
static_assert(!Addable<Microjoules, Microwatts>);
static_assert(!Addable<Microjoules, int>);
static_assert(!std::is_convertible_v<Microjoules, std::int64_t>);

TEST(Quantity, AddsSubtractsAndCompares) {
  Microjoules energy{5};
  energy += {3};
  energy -= {1};
  EXPECT_EQ(energy, Microjoules{7});
  EXPECT_EQ(Microjoules{2} + Microjoules{3}, Microjoules{5});
  EXPECT_LT(Microjoules{2} - Microjoules{3}, Microjoules{0});
  EXPECT_EQ(Microjoules{}, Microjoules{0});
}

TEST(MeanPower, IsEnergyOverTime) {
  EXPECT_EQ(mean_power({1'000'000}, 1s), Microwatts{1'000'000});
  EXPECT_EQ(mean_power({1'000'000}, 500ms), Microwatts{2'000'000});
  EXPECT_EQ(mean_power({0}, 1s), Microwatts{0});
  EXPECT_EQ(mean_power({2}, 3s), Microwatts{0});
}

TEST(MeanPower, DoesNotOverflowOnTheWay) {
  EXPECT_EQ(mean_power({9'000'000'000'000'000'000}, 1s), Microwatts{9'000'000'000'000'000'000});
  EXPECT_EQ(mean_power({10'000'000'000'000}, 10'000'000s), Microwatts{1'000'000});
}

TEST(EnergyOf, IsPowerTimesTime) {
  EXPECT_EQ(energy_of({1'000'000}, 1s), Microjoules{1'000'000});
  EXPECT_EQ(energy_of({3}, 500ms), Microjoules{1});
  EXPECT_EQ(energy_of({1'000'000'000}, 8760h), Microjoules{31'536'000'000'000'000});
}

}  // namespace
}  // namespace keplerd
