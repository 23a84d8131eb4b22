// SPDX-License-Identifier: Apache-2.0
// Who may see what: one table for all callers. And how many views one caller may hold.
#include <set>

#include <gmock/gmock.h>

#include "daemon/access_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const Seen kEverything = seen_in(ReportMaker(1s).take());
const Seen kRowsOfAll = [] {
  Seen seen = kEverything;
  seen.accounts = false;
  return seen;
}();
const Seen kHostAlone{.anything = true};
const Seen kJoes{.anything = true,
                 .units = {"/user.slice/user-1000.slice", "/user.slice/user-1000.slice/app.scope"},
                 .vms = {"by-process", "in-slice"},
                 .containers = {"joes"},
                 .pods = {},
                 .processes = {"10", "11"},
                 .events = {"by-process", "in-slice"}};
const Seen kEves{.anything = true, .units = {"/user.slice/user-1001.slice"}, .processes = {"13"}};

TEST(AccessTable, DefinesWhoSeesWhat) {
  struct Row {
    const char* who;
    uid_t user;
    std::vector<gid_t> groups;
    Seen none, host, own, all;
  };
  const std::vector<Row> kTable = {
      {"root", 0, {0}, kEverything, kEverything, kEverything, kEverything},
      {"keplerd's own user", kDaemon, {kUsersGid}, kEverything, kEverything, kEverything, kEverything},
      {"a member of the group",
       kEve,
       {kUsersGid, kKeplerdGid},
       kEverything,
       kEverything,
       kEverything,
       kEverything},
      {"whose only group it is", kEve, {kKeplerdGid}, kEverything, kEverything, kEverything, kEverything},
      {"joe", kJoe, {kUsersGid}, {}, kHostAlone, kJoes, kRowsOfAll},
      {"eve", kEve, {kUsersGid, 0}, {}, kHostAlone, kEves, kRowsOfAll},
      {"a user of nothing", 12345, {}, {}, kHostAlone, kHostAlone, kRowsOfAll},
      {"who is not known", static_cast<uid_t>(-1), {}, {}, kHostAlone, kHostAlone, kRowsOfAll},
  };
  for (const Row& row : kTable) {
    SampledAccess access;
    access.sample(ReportMaker(1s));
    EXPECT_EQ(seen_in(seen_by(access, row.user, row.groups)), row.own) << row.who << ", by default";
    for (const auto& [rule, seen] :
         {std::pair(PublicAccess::kNone, row.none), std::pair(PublicAccess::kHost, row.host),
          std::pair(PublicAccess::kOwn, row.own), std::pair(PublicAccess::kAll, row.all)}) {
      access.set_rule(rule);
      EXPECT_EQ(seen_in(seen_by(access, row.user, row.groups)), seen) << row.who << ", " << rule_name(rule);
      const bool may_have_some = rule == PublicAccess::kOwn || !seen.processes.empty();
      EXPECT_EQ(access.may_see_processes(access.identify(row.user, row.groups)), may_have_some) << row.who;
    }
  }
}

TEST(AccessTable, WithoutTheGroupThereAreNoMembers) {
  SampledAccess access(std::nullopt);
  EXPECT_FALSE(access.identify(kJoe, std::vector<gid_t>{0, kKeplerdGid}).full);
}

TEST_F(Public, AskingForManyUsersIsBounded) {
  tick(1s, {});
  for (uid_t user = 0; user < 1000; ++user) seen_by(access, 100'000 + user, {});
  EXPECT_EQ(seen()->sequence, 1U);
}

// A client that follows once an hour, or does not read, holds the last report sent to it.
TEST_F(Public, AUserHoldsEightViewsAndThenSeesTheLastOfTheseUntilOneIsReleased) {
  std::vector<Sight> held;
  for (int i = 1; i <= 8; ++i) {
    tick(i * 1s, {i * 1'000'000});
    held.push_back(seen());
    ASSERT_EQ(held.back(), seen());
    ASSERT_EQ(held.back()->sequence, static_cast<std::uint64_t>(i));
  }
  tick(9s, {9'000'000});
  EXPECT_EQ(seen(), held.back());
  EXPECT_EQ(seen_by(access, kEve, {kUsersGid})->sequence, 9U) << "another user has all of its own";
  held.erase(held.begin() + 3);
  EXPECT_EQ(seen()->sequence, 9U);
}

TEST_F(Public, ViewsThatAllShareAreCountedByLogin) {
  access.set_rule(PublicAccess::kAll);
  std::vector<Sight> held;
  const auto sub_user = [](int i) {
    return Caller{.user = 100'000U + static_cast<uid_t>(i), .account = 1000};
  };
  for (int i = 1; i <= 10; ++i) {
    tick(i * 1s, {i * 1'000'000});
    held.push_back({access.view_for(sub_user(i))});
  }
  EXPECT_EQ(held[9]->sequence, 8U);
  EXPECT_EQ(seen()->sequence, 10U);
}

// Otherwise, holding eight of these would freeze what all others see, and keplerd's own status.
TEST_F(Public, SharedViewsAreCountedForTheirCaller) {
  std::vector<Sight> held;
  const Caller joe{.user = kJoe, .account = kJoe};
  for (int i = 1; i <= 10; ++i) {
    tick(i * 1s, {i * 1'000'000});
    held.push_back({access.view_for(joe.as_public())});
  }
  const auto sequence = [&](const Caller& caller) {
    return access.view_for(caller.as_public()).report->sequence;
  };
  EXPECT_EQ(sequence(joe), 8U);
  EXPECT_EQ(sequence({.user = kEve, .account = kEve}), 10U);
  EXPECT_EQ(sequence({.user = 70'001}), 10U) << "of a login that is not known";
  EXPECT_EQ(sequence(kInside), 10U);
  EXPECT_EQ(access.view_for(joe).report->sequence, 10U) << "his own are others";
}

// A view that is recreated, because many users call, is another object.
TEST_F(Public, AUsersViewOfATickIsOneHoweverManyAsk) {
  tick(1s, {1'000'000});
  const auto view = seen();
  for (uid_t user = 2000; user < 2200; ++user) seen_by(access, user, {kUsersGid});
  EXPECT_EQ(seen(), view);
}

// Views held by a user were made under the old rule; they are not returned under another one.
TEST_F(Public, ViewsThatAreHeldAreNotGivenByAnotherRule) {
  access.set_rule(PublicAccess::kAll);
  std::vector<Sight> held;
  for (int i = 1; i <= 8; ++i) {
    tick(i * 1s, {i * 1'000'000});
    held.push_back(seen());
  }
  access.set_rule(PublicAccess::kHost);
  EXPECT_EQ(seen_in(seen()), kHostAlone);
}

TEST_F(Public, AUserHoldsEightViewsWithTheirProcesses) {
  std::vector<Sight> held;
  const Caller joe = access.identify(kJoe, std::vector<gid_t>{kUsersGid});
  for (int i = 1; i <= 8; ++i) {
    tick(i * 1s, {i * 1'000'000});
    held.push_back({access.view_for(joe)});
    held.push_back(seen());
  }
  tick(9s, {9'000'000});
  EXPECT_EQ(seen()->sequence, 8U);
  EXPECT_EQ(seen().processes, held.back().processes);
  for (Sight& sight : held) sight.report.reset();  // the processes alone count for the view
  EXPECT_EQ(seen()->sequence, 8U);
  held[0] = held[1] = {};
  EXPECT_EQ(seen()->sequence, 9U);
}

}  // namespace
}  // namespace keplerd
