// SPDX-License-Identifier: Apache-2.0
// When callers without full access see a new report, and the processes of that report.
#include <gmock/gmock.h>

#include "daemon/access_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(Public, TicksAreASecondApartHoweverFastItSamples) {
  std::set<std::uint64_t> reported;
  for (int i = 0; i <= 1000; ++i) {
    tick(1s + i * 10ms, {i * 1000}, 10ms);
    reported.insert(seen()->sequence);
  }
  EXPECT_THAT(reported, ElementsAre(1, 101, 201, 301, 401, 501, 601, 701, 801, 901, 1001));
  EXPECT_EQ(seen()->window, 1s);
}

TEST_F(Public, ASampleThatIsALittleEarlyCountsAndTheNextIsNotEarlierForIt) {
  std::vector<std::uint64_t> reported;
  for (const Nanoseconds time :
       std::vector<Nanoseconds>{10s, 11s - 40ms, 12s - 40ms, 12s + 30ms, 13s - 80ms, 13s}) {
    tick(time, {});
    reported.push_back(seen()->sequence);
  }
  EXPECT_THAT(reported, ElementsAre(1, 2, 3, 3, 3, 6));
}

TEST_F(Public, SlowSamplesAreTicksAllOfThem) {
  for (int i = 1; i <= 3; ++i) {
    tick(i * 10s, {}, 10s);
    EXPECT_EQ(seen()->sequence, static_cast<std::uint64_t>(i));
  }
}

TEST_F(Public, IsOfOneTickForEverybody) {
  tick(1s, {});
  tick(2s, {1'000'000});
  const auto joes = seen();
  tick(2500ms, {2'000'000}, 500ms);
  const auto eves = seen_by(access, kEve, {});
  EXPECT_EQ(joes, seen()) << "the same object, however often it is asked for";
  EXPECT_EQ(eves->sequence, joes->sequence);
  EXPECT_EQ(eves->host.energy, joes->host.energy);
  EXPECT_EQ(seen_by(access, 0, {})->sequence, 3U) << "root sees the sample";
}

TEST_F(Public, AStalledSampleIsNotATick) {
  const auto report = ReportMaker(1s).take().report;
  access.add(report);
  const auto reported = seen();
  access.add(report);
  EXPECT_EQ(seen(), reported);
}

// There may be very many processes: a caller who may see none does not cause their creation.
TEST_F(Public, ProcessesAreCreatedForCallersWhoMaySeeSome) {
  const Caller joe = access.identify(kJoe, std::vector<gid_t>{kUsersGid});
  tick(1s, {1'000'000});
  for (const PublicAccess rule : {PublicAccess::kNone, PublicAccess::kHost}) {
    access.set_rule(rule);
    EXPECT_FALSE(seen().processes) << rule_name(rule);
  }
  access.set_rule(PublicAccess::kOwn);
  EXPECT_FALSE(access.view_for(joe).processes);
  EXPECT_EQ(access.made, 0);
  EXPECT_EQ(seen().rows_of_processes().size(), 2U);
  EXPECT_EQ(access.made, 1);
}

TEST_F(Public, ProcessesAreMadeOnceATickForAll) {
  tick(1s, {1'000'000});
  const auto joes = seen().processes;
  EXPECT_EQ(seen().processes, joes);
  EXPECT_NE(seen_by(access, kEve, {kUsersGid}).processes, joes);
  EXPECT_EQ(access.made, 1);
}

TEST_F(Public, ProcessesGoWithTheReportThatIsThere) {
  tick(1s, {1'000'000});
  seen();
  tick(2s, {2'000'000});
  const Caller joe = access.identify(kJoe, std::vector<gid_t>{kUsersGid});
  const ReportView view = access.view_for(joe);
  EXPECT_FALSE(view.processes);
  const Sight with_processes = seen();
  EXPECT_EQ(with_processes.report, view.report);
  EXPECT_TRUE(with_processes.rows_of_processes().front().power);
  EXPECT_FALSE(view.processes) << "what was given stays as it was";
}

TEST_F(Public, PowerOfProcessesIsUnknownIfNotRequestedInThePreviousTick) {
  tick(1s, {1'000'000});
  tick(2s, {2'000'000});
  EXPECT_FALSE(seen().rows_of_processes().front().power);
  EXPECT_TRUE(seen()->units.front().power);
  tick(3s, {3'000'000});
  EXPECT_TRUE(seen().rows_of_processes().front().power);
}

TEST_F(Public, ProcessesOfTicksAreKeptForAMinuteAfterARequest) {
  tick(1s, {});
  seen();
  for (int i = 2; i <= 100; ++i) tick(i * 1s, {});
  EXPECT_EQ(access.made, 60);
}

// They cannot be created for a tick after a later sample: until the next tick they may be requested.
TEST_F(Public, ProcessesOfATickAreThereHoweverManySamplesFollow) {
  tick(1s, {1'000'000});
  for (int i = 1; i <= 9; ++i) tick(1s + i * 100ms, {2'000'000}, 100ms);
  EXPECT_EQ(seen()->sequence, 1U);
  EXPECT_EQ(seen().rows_of_processes().size(), 2U);
  EXPECT_EQ(access.made, 1);
}

TEST_F(Public, WhereTicksShowNoWorkloadsNoProcessesAreKept) {
  access.set_rule(PublicAccess::kHost);
  for (int i = 0; i <= 100; ++i) tick(1s + i * 100ms, {2'000'000}, 100ms);
  EXPECT_EQ(access.made, 0);
}

TEST_F(Public, AnotherRuleShowsTheProcessesOfTheLastSampleAtOnce) {
  access.set_rule(PublicAccess::kHost);
  tick(1s, {1'000'000});
  tick(1500ms, {2'000'000}, 500ms);
  EXPECT_EQ(seen()->sequence, 1U);
  access.set_rule(PublicAccess::kOwn);
  EXPECT_EQ(seen()->sequence, 2U);
  EXPECT_EQ(seen().rows_of_processes().size(), 2U);
}

}  // namespace
}  // namespace keplerd
