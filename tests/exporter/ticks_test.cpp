// SPDX-License-Identifier: Apache-2.0
#include "exporter/ticks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd::exporter {
namespace {

using client::Kind;
using testing::ElementsAre;
using testing::IsEmpty;
using varlink::Json;

class TicksTest : public testing::Test {
 protected:
  // The replies that were passed on with it: "KIND SEQUENCE".
  std::vector<std::string> add(Kind kind, int sequence, bool partial = false) {
    Json reply = {{"sequence", sequence}};
    if (partial) reply["partial"] = true;
    ticks_.add(kind, reply);
    return std::exchange(taken_, {});
  }
  std::vector<std::string> forget(Kind kind) {
    ticks_.forget(kind);
    return std::exchange(taken_, {});
  }

  std::vector<std::string> taken_;
  Ticks ticks_{[this](Kind kind, const Json& reply) {
    taken_.push_back(std::string(client::info_of(kind).plural) + " " + reply.at("sequence").dump());
  }};
};

TEST_F(TicksTest, AtTheBeginningEachReplyComesThroughAtOnce) {
  EXPECT_THAT(add(Kind::kZones, 1), ElementsAre("zones 1"));
  EXPECT_THAT(add(Kind::kUnits, 1), ElementsAre("units 1"));
}

TEST_F(TicksTest, RepliesOfOneSampleComeThroughTogether) {
  add(Kind::kZones, 1);
  add(Kind::kUnits, 1);
  EXPECT_THAT(add(Kind::kZones, 2), IsEmpty());
  EXPECT_THAT(add(Kind::kUnits, 2, true), IsEmpty());
  EXPECT_THAT(add(Kind::kUnits, 2), ElementsAre("zones 2", "units 2", "units 2"));
}

TEST_F(TicksTest, AnIncompleteSampleWaitsForTheNextAtMost) {
  add(Kind::kZones, 1);
  add(Kind::kUnits, 1);
  add(Kind::kZones, 2);
  EXPECT_THAT(add(Kind::kZones, 3), ElementsAre("zones 2"));
  EXPECT_THAT(add(Kind::kUnits, 3), ElementsAre("zones 3", "units 3"));
}

TEST_F(TicksTest, AStreamThatIsOfOtherSamplesThanTheZonesIsOutOfStep) {
  add(Kind::kZones, 1);
  add(Kind::kUnits, 1);
  add(Kind::kProcesses, 2);
  client::Kinds processes;
  processes.set(client::index_of(Kind::kProcesses));
  add(Kind::kZones, 51);
  EXPECT_EQ(ticks_.out_of_step(), processes);
  forget(Kind::kProcesses);
  EXPECT_EQ(ticks_.out_of_step(), client::Kinds());
}

TEST_F(TicksTest, AStreamThatIsLateIsInStep) {
  for (int sample = 1; sample < 20; ++sample) {
    add(Kind::kZones, sample);
    if (sample % 3 != 0) add(Kind::kUnits, sample);
    EXPECT_EQ(ticks_.out_of_step(), client::Kinds()) << sample;
  }
}

TEST_F(TicksTest, AStreamThatHasEndedIsNotWaitedFor) {
  add(Kind::kZones, 1);
  add(Kind::kUnits, 1);
  add(Kind::kZones, 2);
  EXPECT_THAT(forget(Kind::kUnits), ElementsAre("zones 2"));
  EXPECT_THAT(add(Kind::kZones, 3), ElementsAre("zones 3"));
}

TEST_F(TicksTest, HeldRepliesOfAnEndedStreamAreDropped) {
  add(Kind::kZones, 1);
  add(Kind::kUnits, 1);
  add(Kind::kZones, 2);
  EXPECT_THAT(forget(Kind::kZones), IsEmpty());
  EXPECT_THAT(add(Kind::kUnits, 2), ElementsAre("units 2"));
}

}  // namespace
}  // namespace keplerd::exporter
