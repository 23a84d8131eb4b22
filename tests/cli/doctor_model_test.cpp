// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/doctor_checks.h"
#include "cli/sample_facts.h"

namespace keplerd::cli {
namespace {

using testing::EndsWith;
using testing::Not;
using testing::StartsWith;

// With a model of the package in this state.
DoctorFacts learned(const char* state) {
  DoctorFacts facts = healthy();
  facts.has_frequency = true;
  (*facts.status)["share"] = "learned";
  (*facts.status)["zones"] = Json::array();
  (*facts.status)["zones"].push_back({{"id", "powercap:package:0"},
                                      {"model",
                                       {{"state", state},
                                        {"idleMicrowatts", 21'300'000},
                                        {"idleErrorMicrowatts", 800'000},
                                        {"gate", 0.9}}}});
  return facts;
}

TEST(Doctor, WhatWasLearnedOfAZoneIsShownWithHowItIsKnown) {
  const std::string power = "powercap:package:0: idle power 21.3 W +-800 mW";
  EXPECT_EQ(check_of(learned("base"), "model").found, power);
  const Check aged = check_of(learned("aged"), "model");
  EXPECT_EQ(aged.found, power + ", learned more than a day ago");
  EXPECT_EQ(aged.state, CheckState::kOk);
  const Check extrapolated = check_of(learned("extrapolated"), "model");
  EXPECT_EQ(extrapolated.found, power + ", extrapolated: the host has not been idle yet");
  EXPECT_EQ(extrapolated.state, CheckState::kWarning);
  EXPECT_EQ(extrapolated.fix, "leave the host idle for a minute, or set IdlePower= in keplerd.conf");
  EXPECT_EQ(check_of(learned("learning"), "model").found,
            "powercap:package:0: its idle power is still being learned");
  EXPECT_EQ(status_of(learned("extrapolated")), kFine);
}

TEST(Doctor, WithoutFullAccessTheModelHasNoFigures) {
  DoctorFacts facts = learned("base");
  (*facts.status)["zones"][0]["model"] = {{"state", "base"}};
  EXPECT_EQ(check_of(facts, "model").found, "powercap:package:0: idle power known");
}

TEST(Doctor, AClosedGateMeansThatCpuTimeDivides) {
  DoctorFacts facts = learned("base");
  (*facts.status)["zones"][0]["model"]["gate"] = 0.05;
  const std::string closed = "; no difference between workloads has been learned: CPU time alone divides";
  EXPECT_THAT(check_of(facts, "model").found, EndsWith(closed));
  (*facts.status)["zones"][0]["model"]["state"] = "extrapolated";
  EXPECT_THAT(check_of(facts, "model").found, EndsWith("the host has not been idle yet" + closed));
  (*facts.status)["share"] = "cpu-time";
  EXPECT_THAT(check_of(facts, "model").found, Not(EndsWith(closed)));
}

TEST(Doctor, LoadsThatNeverVaryAreNamedWithTheirErrors) {
  DoctorFacts facts = learned("base");
  const auto named = [&] {
    const auto checks = check_all(facts);
    return std::ranges::find(checks, "steady loads", &Check::name) != checks.end();
  };
  EXPECT_FALSE(named());
  Json& unclear = (*facts.status)["zones"][0]["model"]["unclear"];
  unclear = Json::array();
  EXPECT_FALSE(named());
  unclear.push_back({{"id", "/system.slice/web.service"}, {"errorPercent", 21}});
  unclear.push_back({{"id", "/machine.slice/machine-qemu\\x2d1\\x2dshop.scope"}, {"errorPercent", 30}});
  const Check check = check_of(facts, "steady loads");
  EXPECT_EQ(check.state, CheckState::kOk);
  EXPECT_EQ(check.found,
            "powercap:package:0: the power of these is not known better than by their CPU time: "
            "web.service +-41 %, machine-qemu\\x2d1\\x2dshop.scope +-59 %");
  EXPECT_EQ(
      check.hint,
      "their load hardly varies, or only together; it is learned as soon as one of them pauses for a few "
      "minutes");
  EXPECT_EQ(status_of(facts), kFine);
}

TEST(Doctor, SamplesThatAreTooRareToLearnFromAreAWarning) {
  DoctorFacts facts = learned("base");
  EXPECT_EQ(check_of(facts, "learning").state, CheckState::kOk);
  for (Nanoseconds* const interval :
       {&facts.settings.sampling.interval, &facts.settings.sampling.unwatched_interval}) {
    const Nanoseconds was = std::exchange(*interval, std::chrono::seconds(11));
    EXPECT_EQ(check_of(facts, "learning").state, CheckState::kWarning);
    EXPECT_EQ(check_of(facts, "learning").found, "samples every 11.0 s are too rare to learn from");
    *interval = was;
  }
}

TEST(Doctor, AFrequencyThatCannotBeReadIsReplaced) {
  DoctorFacts facts = learned("base");
  EXPECT_EQ(check_of(facts, "frequency").found, "of the processors can be read");
  facts.has_frequency = false;
  EXPECT_EQ(check_of(facts, "frequency").found,
            "of the processors cannot be read: the number of active cores is used instead");
}

TEST(Doctor, RulesThatTheSourceCannotFollowAreAWarning) {
  DoctorFacts facts = healthy();
  (*facts.status)["source"] = {{"name", "estimated"}, {"quality", "estimated"}};
  facts.settings.attribution.split = SplitRule::kBaseline;
  EXPECT_EQ(check_of(facts, "learning").state, CheckState::kWarning);
  EXPECT_EQ(check_of(facts, "learning").found,
            "Split=baseline has no effect: the source estimated does not count the energy of processors");
  facts.settings.attribution.share = ShareRule::kLearned;
  EXPECT_THAT(check_of(facts, "learning").found,
              StartsWith("Split=baseline and Share=learned have no effect"));
  facts.settings.attribution.split = SplitRule::kAuto;
  EXPECT_THAT(check_of(facts, "learning").found, StartsWith("Share=learned has no effect"));
}

TEST(Doctor, WithoutAModelThereIsNothingToSayOfOne) {
  for (const Check& check : check_all(healthy())) {
    EXPECT_NE(check.name, "model");
    EXPECT_NE(check.name, "learning");
    EXPECT_NE(check.name, "frequency");
  }
}

}  // namespace
}  // namespace keplerd::cli
