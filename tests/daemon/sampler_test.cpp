// SPDX-License-Identifier: Apache-2.0
// When samples are taken, with a clock set by the test.
#include "daemon/sampler.h"

#include <optional>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class SamplerTest : public testing::Test {
 protected:
  explicit SamplerTest(SamplingSettings settings = {})
      : sampler_({.now = [this] { return now_; },
                  .realtime = [this] { return now_ + clock_ahead_; },
                  .sample =
                      [this] {
                        samples_.push_back(now_);
                        if (throws_) throw std::runtime_error("no memory");
                        now_ += takes_;
                        return Sampler::Sampled{.reported = samples_.back(), .cost = takes_};
                      },
                  .may_read_seldom = [this] { return may_read_seldom_; },
                  .budget_changed = [this](bool exceeded) { budget_.push_back(exceeded); }},
                 settings) {}

  // Advances the clock to `end`, taking a sample whenever one is due.
  void run_until(Nanoseconds end) {
    while (sampler_.due().at <= end) {
      now_ = std::max(now_, sampler_.due().at);
      sampler_.on_time();
    }
    now_ = std::max(now_, end);
  }
  std::vector<Nanoseconds> take_samples() { return std::exchange(samples_, {}); }

  Nanoseconds now_ = 1000s;
  Nanoseconds clock_ahead_{0};
  Nanoseconds takes_{0};
  bool throws_ = false;
  bool may_read_seldom_ = true;
  std::vector<Nanoseconds> samples_;
  std::vector<bool> budget_;
  Sampler sampler_;
};

TEST_F(SamplerTest, SamplesEachIntervalAfterTheStartAndRarelyWithoutCallers) {
  sampler_.start();
  EXPECT_THAT(take_samples(), ElementsAre(1000s));
  run_until(1003s);
  EXPECT_THAT(take_samples(), ElementsAre(1001s, 1002s, 1003s)) << "whoever starts it will ask";
  EXPECT_FALSE(sampler_.due().may_be_late);
  run_until(1026s);
  take_samples();
  EXPECT_TRUE(sampler_.due().may_be_late);
  run_until(1036s);
  EXPECT_THAT(take_samples().size(), 2u) << "UnwatchedInterval=5s";
}

TEST_F(SamplerTest, AQuestionForWhatTheLastReportLacksHasASampleAtOnce) {
  const auto listener = sampler_.listen({.full = true, .wanted = 1s});
  sampler_.start();
  run_until(1002s + 300ms);
  take_samples();
  sampler_.refresh();
  EXPECT_THAT(take_samples(), IsEmpty());
  sampler_.ask_processes();
  EXPECT_TRUE(sampler_.wants_processes());
  sampler_.refresh(true);
  EXPECT_THAT(take_samples(), ElementsAre(1002s + 300ms));
  run_until(1004s);
  EXPECT_THAT(take_samples(), ElementsAre(1003s + 300ms));
}

TEST_F(SamplerTest, AnAlignedFollowerGetsASampleAtEachMultipleOfTheClockAndNoOthers) {
  clock_ahead_ = 40s;
  sampler_.start();
  run_until(1026s);
  const auto listener = sampler_.listen({.full = true, .wanted = 60s, .aligned = true});
  take_samples();
  run_until(1043s);
  EXPECT_THAT(take_samples(), ElementsAre(1030s, 1035s, 1040s + 20ms))
      << "UnwatchedInterval=5s; a clock that is adjusted may be behind the timer";
  clock_ahead_ = 50s;  // it was set
  run_until(1100s);
  EXPECT_THAT(take_samples(), testing::Contains(1090s + 20ms));
}

TEST_F(SamplerTest, AnAlignedFollowerWithoutFullAccessCausesNoSample) {
  sampler_.start();
  const auto listener = sampler_.listen({.full = false, .wanted = 60s, .aligned = true});
  run_until(1080s);
  EXPECT_THAT(take_samples(), testing::Not(testing::Contains(1080s + 20ms)));
}

TEST_F(SamplerTest, ALateSampleDoesNotShiftTheNext) {
  const auto listener = (sampler_.start(), sampler_.listen({.full = true, .wanted = 0s}));
  now_ = 1001s + 300ms;
  sampler_.on_time();
  EXPECT_EQ(sampler_.due().at, 1002s);
}

TEST_F(SamplerTest, AfterALongStallItGoesOnFromNow) {
  const auto listener = (sampler_.start(), sampler_.listen({.full = true, .wanted = 0s}));
  now_ = 1017s;
  sampler_.on_time();
  EXPECT_EQ(sampler_.due().at, 1018s) << "what was missed is not made up for";
}

TEST_F(SamplerTest, ASampleThatThrowsIsTriedAgainAPeriodLater) {
  sampler_.start();
  throws_ = true;
  now_ = 1001s;
  EXPECT_THROW(sampler_.on_time(), std::runtime_error);
  EXPECT_EQ(sampler_.due().at, 1002s);
  throws_ = false;
  run_until(1003s);
  EXPECT_THAT(take_samples(), ElementsAre(1000s, 1001s, 1002s, 1003s));
}

TEST_F(SamplerTest, AFasterListenerIsServedAtOnce) {
  sampler_.start();
  EXPECT_EQ(sampler_.due().at, 1001s);
  const auto listener = sampler_.listen({.full = true, .wanted = 200ms});
  EXPECT_EQ(sampler_.due().at, 1000s + 200ms);
}

TEST_F(SamplerTest, AHurriedSampleIsTakenAtOnceAndTheRhythmGoesOnFromThere) {
  sampler_.start();
  run_until(1000s + 400ms);
  take_samples();
  sampler_.hurry();
  run_until(1002s);
  EXPECT_THAT(take_samples(), ElementsAre(1000s + 400ms, 1001s + 400ms));
  sampler_.hurry();
  sampler_.hurry();
  run_until(1002s + 100ms);
  EXPECT_THAT(take_samples(), ElementsAre(1002s)) << "one for all that come before it";
  sampler_.hurry();
  EXPECT_EQ(sampler_.due().at, 1002s + 100ms);
}

TEST_F(SamplerTest, AHurriedSampleWaitsForTheShortestInterval) {
  sampler_.start();
  sampler_.hurry();
  run_until(1000s + 500ms);
  EXPECT_THAT(take_samples(), ElementsAre(1000s, 1000s + 10ms));
}

TEST_F(SamplerTest, ACallerWithoutFollowersGetsAFreshReport) {
  sampler_.start();
  run_until(1030s);
  take_samples();
  now_ = sampler_.due().at - 1s;
  sampler_.refresh();
  EXPECT_THAT(take_samples(), ElementsAre(now_)) << "the last report was older than Interval=";
  EXPECT_EQ(sampler_.due().at, now_ + 1s);
  now_ += 100ms;
  sampler_.refresh();
  EXPECT_THAT(take_samples(), IsEmpty());
}

TEST_F(SamplerTest, SamplesThatCostTooMuchBecomeFewerAndThatIsReportedOnce) {
  sampler_.start();
  const auto listener = sampler_.listen({.full = true, .wanted = 0s});
  takes_ = 2s;
  run_until(1030s);
  EXPECT_LE(take_samples().size(), 6u) << "a quarter of a processor";
  EXPECT_THAT(budget_, ElementsAre(true));
  takes_ = 1ms;
  run_until(1100s);
  EXPECT_THAT(budget_, ElementsAre(true, false));
}

TEST_F(SamplerTest, WithoutBudgetNoCallerTriggersASample) {
  sampler_.start();
  run_until(1030s);
  takes_ = 8s;
  sampler_.on_time();
  take_samples();
  now_ += 2s;
  sampler_.refresh();
  EXPECT_THAT(take_samples(), IsEmpty());
}

TEST_F(SamplerTest, IsStalledWhenNoSampleComesForLong) {
  sampler_.start();
  now_ += 17s;
  EXPECT_FALSE(sampler_.is_stalled()) << "two periods, the longest wait for budget and 5 s";
  now_ += 1s;
  EXPECT_TRUE(sampler_.is_stalled());
  sampler_.on_time();
  EXPECT_FALSE(sampler_.is_stalled());
}

class SamplerOnDemand : public SamplerTest {
 protected:
  SamplerOnDemand() : SamplerTest({.interval = 0s}) {}
};

TEST_F(SamplerOnDemand, SamplesWhenTheReportIsStaleAndElseGuardsAgainstWraps) {
  sampler_.start();
  run_until(1029s);
  EXPECT_THAT(take_samples(), ElementsAre(1000s));
  run_until(1030s);
  EXPECT_THAT(take_samples(), ElementsAre(1030s)) << "counters wrap";
  now_ += 499ms;
  sampler_.refresh();
  EXPECT_THAT(take_samples(), IsEmpty()) << "Staleness=500ms";
  now_ += 1ms;
  sampler_.refresh();
  EXPECT_THAT(take_samples(), ElementsAre(now_));
}

}  // namespace
}  // namespace keplerd
