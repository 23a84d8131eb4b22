// SPDX-License-Identifier: Apache-2.0
#include "energy/power_integral.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;

TEST(PowerIntegral, BeginsAtNothing) {
  PowerIntegral integral;
  EXPECT_EQ(integral.advance(5h, {40'000'000}), Microjoules{0});
}

TEST(PowerIntegral, IsAStraightLineOverTheTimeThatPassed) {
  PowerIntegral integral;
  integral.advance(10s, {40'000'000});
  EXPECT_EQ(integral.advance(12s, {60'000'000}), Microjoules{100'000'000});
  EXPECT_EQ(integral.advance(12500ms, {60'000'000}), Microjoules{130'000'000});
}

TEST(PowerIntegral, CarriesFractionsOfAMicrojouleOver) {
  PowerIntegral integral;
  integral.advance(0ns, {1});
  Microjoules energy;
  for (int i = 1; i <= 1000; ++i) energy = integral.advance(i * 1ms, {1});
  EXPECT_EQ(energy, Microjoules{1});
}

TEST(PowerIntegral, CountsNoTimeTwice) {
  PowerIntegral integral;
  integral.advance(10s, {1'000'000});
  EXPECT_EQ(integral.advance(9s, {1'000'000}), Microjoules{0});
  EXPECT_EQ(integral.advance(11s, {1'000'000}), Microjoules{1'000'000});
}

TEST(PowerIntegral, BeginsAnewAfterAGapInsteadOfInventing) {
  PowerIntegral integral;
  integral.advance(0s, {1'000'000});
  EXPECT_EQ(integral.advance(60s, {1'000'000}), Microjoules{60'000'000});
  EXPECT_EQ(integral.advance(121s, {1'000'000}), Microjoules{0});
  EXPECT_EQ(integral.advance(122s, {1'000'000}), Microjoules{1'000'000});
}

}  // namespace
}  // namespace keplerd
