// SPDX-License-Identifier: Apache-2.0
#include "attribution/platform/lag_estimate.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;

// Parts with a power over time (in seconds), and a platform of 1.2 times it and 50 W, which is seen `lag`
// later; read every second.
class Late {
 public:
  Late(std::function<double(double)> watts, Nanoseconds lag) : watts_(std::move(watts)), lag_(lag) {}

  void run(int seconds) {
    for (const int end = second_ + seconds; second_ < end; ++second_) {
      const Nanoseconds now = 1s * second_;
      parts_ += energy(now, 1.0, 0);
      history_.add(now, parts_);
      estimate.add({now - 1s, now, energy(now - lag_, 1.2, 50)}, history_);
    }
  }
  void set_lag(Nanoseconds lag) { lag_ = lag; }

  LagEstimate estimate;

 private:
  Microjoules energy(Nanoseconds until, double slope, double offset) const {
    const double t = std::chrono::duration<double>(until).count();
    return {std::llround(1e6 * (offset + slope * watts_(t - 0.5)))};
  }

  std::function<double(double)> watts_;
  Nanoseconds lag_;
  int second_ = 1000;
  Microjoules parts_;
  EnergyHistory history_;
};

// A load that comes and goes, each time for another span.
double steps(double t) { return std::fmod(t * t / 40, 17) < 8 ? 20 : 90; }

TEST(LagEstimate, FindsTheLagOfALoadThatVaries) {
  for (const Nanoseconds lag : {Nanoseconds(0s), Nanoseconds(3s), Nanoseconds(11s), Nanoseconds(30s)}) {
    Late late(steps, lag);
    late.run(240);
    ASSERT_TRUE(late.estimate.lag()) << lag.count();
    EXPECT_LE(std::chrono::abs(*late.estimate.lag() - lag), 500ms) << lag.count();
  }
}

TEST(LagEstimate, LearnsNothingFromAConstantLoad) {
  Late late([](double) { return 60.0; }, 3s);
  late.run(600);
  EXPECT_EQ(late.estimate.lag(), std::nullopt);
}

TEST(LagEstimate, LearnsNothingFromALoadThatOnlyRises) {
  Late late([](double t) { return 20 + t / 100; }, 3s);
  late.run(600);
  EXPECT_EQ(late.estimate.lag(), std::nullopt) << "each lag fits it as well";
}

TEST(LagEstimate, KeepsTheLagWhileTheLoadIsConstant) {
  Late late([](double t) { return t < 1240 ? steps(t) : 60.0; }, 5s);
  late.run(240);
  const auto learned = late.estimate.lag();
  ASSERT_TRUE(learned);
  late.run(3600);
  EXPECT_EQ(late.estimate.lag(), learned);
}

TEST(LagEstimate, FollowsALagThatChanges) {
  Late late(steps, 2s);
  late.run(300);
  late.set_lag(9s);
  late.run(900);
  ASSERT_TRUE(late.estimate.lag());
  EXPECT_LE(std::chrono::abs(*late.estimate.lag() - 9s), 500ms);
}

TEST(LagEstimate, IgnoresStepsThatAreTooLong) {
  LagEstimate estimate;
  EnergyHistory history;
  for (int i = 0; i < 200; ++i) {
    history.add(20s * i, {std::llround(2e7 * steps(i))});
    estimate.add({20s * (i - 1), 20s * i, {std::llround(2e7 * steps(i))}}, history);
  }
  EXPECT_EQ(estimate.lag(), std::nullopt);
}

TEST(LagEstimate, ContinuesFromWhatWasSavedWithinItsBounds) {
  LagEstimate estimate;
  estimate.restore(3700ms);
  EXPECT_EQ(estimate.lag(), Nanoseconds(3500ms));
  estimate.restore(1h);
  EXPECT_EQ(estimate.lag(), Nanoseconds(LagEstimate::kLargestLag));
}

}  // namespace
}  // namespace keplerd
