// SPDX-License-Identifier: Apache-2.0
#include "history/recorder.h"

#include <gmock/gmock.h>

#include "history/recorded_host.h"

namespace keplerd::history {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

using RecorderTest = RecordedHost;

const Time kNoon = utc("2026-11-24 12:00");

TEST_F(RecorderTest, WhatWasCountedBeforeTheFirstReadingIsNotRecorded) {
  draw("/a.service", 5'000);
  read();
  EXPECT_EQ(summary({kNoon - 1h, kNoon + 1h}).accounts, Accounts{});
  EXPECT_EQ(count("SELECT count(*) FROM counters"), 1) << "it is where the next difference begins";
}

TEST_F(RecorderTest, WritesWhenFiveMinutesAreOver) {
  read();
  run(4);
  EXPECT_EQ(count("SELECT count(*) FROM spans"), 0);
  run(1);
  EXPECT_EQ(summary({kNoon, kNoon + 5min}).accounts, (Accounts{.idle = {5000}, .workloads = {500}}));
  EXPECT_EQ(summary({kNoon, kNoon + 5min}).recorded, 5min);
  EXPECT_THAT(energy({kNoon, kNoon + 5min}), ElementsAre(Pair("/a.service", 500)));
}

TEST_F(RecorderTest, WritesWhatIsAskedForBeforeThat) {
  read();
  run(2);
  recorder->flush();
  EXPECT_EQ(summary({kNoon, kNoon + 5min}).accounts.idle, Microjoules{2000});
  run(3);
  EXPECT_EQ(summary({kNoon, kNoon + 5min}).accounts.idle, Microjoules{5000}) << "added to it";
}

TEST_F(RecorderTest, WhatWasNotWrittenWhenItWasKilledIsWrittenAfterwards) {
  read();
  run(8);
  open();
  EXPECT_EQ(summary({kNoon, kNoon + 1h}).accounts.idle, Microjoules{5000});
  run(2);
  EXPECT_EQ(summary({kNoon + 5min, kNoon + 10min}).accounts, (Accounts{.idle = {5000}, .workloads = {500}}))
      << "inside the same five minutes: nothing of it is lost";
}

TEST_F(RecorderTest, AnInterruptionIsBookedToItsOwnTime) {
  read();
  run(5);
  open();
  now += 4h;
  draw("/a.service", 7);
  draw_idle(90);
  read();
  const Time end = now;
  run(55);
  EXPECT_EQ(summary({kNoon + 1h, kNoon + 4h}).accounts, Accounts{}) << "it is not known when in it";
  EXPECT_EQ(summary({kNoon, end}).accounts.idle, Microjoules{5090});
  EXPECT_EQ(summary({kNoon, end}).recorded, end - kNoon);
  EXPECT_EQ(count("SELECT count(*) FROM spans WHERE step = 0"), 1);
}

TEST_F(RecorderTest, AWorkloadThatIsRenamedHasItsLastName) {
  workload(Kind::kVms, "uuid").name = "old";
  read();
  workload(Kind::kVms, "uuid").now.active += Microjoules{10};
  run(5);
  workload(Kind::kVms, "uuid").name = "new";
  workload(Kind::kVms, "uuid").now.active += Microjoules{5};
  run(5);
  const auto found = workloads_of(*sum({kNoon, kNoon + 1h}), {Kind::kVms, {}, {}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "new");
  EXPECT_EQ(found[0].amounts.active, Microjoules{15});
}

TEST_F(RecorderTest, AnIdThatAnotherUserTakesOverIsAnotherWorkload) {
  read();
  workload(Kind::kUnits, "/x", 1000).now.active = {10};
  run(5);
  workloads.erase({Kind::kUnits, "/x", 1000});
  workload(Kind::kUnits, "/x", 1001).now.active = {7};
  run(5);
  const auto found = [&](uid_t owner) {
    return workloads_of(*sum({kNoon, kNoon + 1h}), {Kind::kUnits, {}, owner});
  };
  ASSERT_EQ(found(1000).size(), 1u);
  EXPECT_EQ(found(1000)[0].amounts.active, Microjoules{10});
  EXPECT_EQ(found(1001)[0].amounts.active, Microjoules{7});
  EXPECT_THAT(found(1002), IsEmpty());
}

TEST_F(RecorderTest, ALateDayIsRecordedWithoutHolesWhenTheClockIsSetBackAnHour) {
  read();
  run(70);
  now -= 1h;
  run(60);
  recorder->flush();
  const Summary day = summary({kNoon, kNoon + 2h});
  EXPECT_EQ(day.accounts.idle, Microjoules{130'000}) << "all of it, though the hour was summed up already";
}

// A directory that cannot be written, a full disk.
TEST_F(RecorderTest, WhatCannotBeWrittenIsWrittenLater) {
  read();
  recorder->store().database().run("PRAGMA query_only = 1");
  run(10);
  ASSERT_THAT(messages, ElementsAre(HasSubstr("history cannot be written: ")));
  EXPECT_THAT(recorder->problem(), HasSubstr("readonly"));
  recorder->store().database().run("PRAGMA query_only = 0");
  run(5);
  EXPECT_EQ(messages.back(), "history is written again");
  for (const auto begin : {0min, 5min, 10min})
    EXPECT_EQ(summary({kNoon + begin, kNoon + begin + 5min}).accounts.idle, Microjoules{5000});
}

TEST_F(RecorderTest, WhatCannotBeWrittenForLongIsBookedAsAnInterruption) {
  read();
  recorder->store().database().run("PRAGMA query_only = 1");
  run(180);
  recorder->store().database().run("PRAGMA query_only = 0");
  run(60);
  EXPECT_EQ(summary({kNoon, now}).accounts.idle, Microjoules{240'000});
  EXPECT_EQ(count("SELECT count(*) FROM spans WHERE step = 0"), 1);
}

}  // namespace
}  // namespace keplerd::history
