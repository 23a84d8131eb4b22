// SPDX-License-Identifier: Apache-2.0
// How the live screen survives a restart of keplerd. Waits for the sockets only; the time is the test's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "cli/fake_daemon.h"
#include "cli/top/columns.h"
#include "cli/top/link.h"

namespace keplerd::cli::top {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Json tick(std::int64_t sequence, std::vector<Json> rows) {
  Json out = tick_of(measured_status(), std::move(rows));
  out["sequence"] = sequence;
  return out;
}

class TopLink : public testing::Test {
 protected:
  TopLink() {
    state_.tab = find_tab("units");
    state_.slices = true;
    resize(state_, {80, 24});
  }

  // Until the daemon has sent something, or closed the connection.
  static void wait_for_input(const Link& link) {
    pollfd input{link.fd(), POLLIN, 0};
    ASSERT_EQ(poll(&input, 1, 60'000), 1);
  }

  void update_until_lost(Link& link) {
    while (link.fd() >= 0) {
      wait_for_input(link);
      link.update(state_, now_);
    }
  }

  State state_;
  Link::Time now_ = Link::Time{} + 1000s;
};

TEST_F(TopLink, ALostConnectionIsShownAndOpenedAgainAfterADelay) {
  Canned canned;
  canned.ticks = {tick(1, unit_rows())};
  const FakeDaemon daemon(canned);
  Link link(daemon.address());
  ASSERT_TRUE(link.open(state_, now_));
  update_until_lost(link);
  EXPECT_THAT(state_.outage, HasSubstr("org.example.Ended"));
  EXPECT_EQ(state_.rows.size(), 2u);
  EXPECT_FALSE(state_.quit);

  EXPECT_EQ(link.wait(now_), 250ms);
  link.update(state_, now_ + 249ms);
  EXPECT_EQ(link.fd(), -1);
  link.update(state_, now_ + 250ms);
  EXPECT_GE(link.fd(), 0);
}

TEST_F(TopLink, TheFirstReplyAfterwardsReplacesTheRows) {
  Canned old, restarted;
  old.ticks = {tick(1, unit_rows())};
  restarted.ticks = {tick(2, {unit_rows()[1]})};
  restarted.then_silent = true;
  const FakeDaemon first(old), second(restarted);
  Link lost(first.address());
  ASSERT_TRUE(lost.open(state_, now_));
  update_until_lost(lost);
  Link link(second.address());
  link.reopen(state_, now_);
  EXPECT_NE(state_.outage, "");  // not before it has answered
  wait_for_input(link);
  link.update(state_, now_);
  EXPECT_EQ(state_.outage, "");
  ASSERT_EQ(state_.rows.size(), 1u);
  EXPECT_EQ(state_.rows[0].at("name"), "ssh.service");
  EXPECT_EQ(state_.histories.at("/system.slice/ssh.service").size(), 2u);  // goes on
}

TEST_F(TopLink, TheDelayGrowsUpToFiveSeconds) {
  Link link("/nonexistent/socket");
  EXPECT_FALSE(link.open(state_, now_));
  link.reopen(state_, now_);
  EXPECT_THAT(state_.outage, HasSubstr("/nonexistent/socket"));
  for (const auto delay : {250ms, 500ms, 1000ms, 2000ms, 4000ms, 5000ms, 5000ms}) {
    EXPECT_EQ(link.wait(now_), delay);
    now_ += delay;
    link.update(state_, now_);
  }
}

TEST_F(TopLink, SilenceOfNinetySecondsIsAnOutage) {
  Canned canned;
  canned.ticks = {tick(1, unit_rows())};
  canned.then_silent = true;
  const FakeDaemon daemon(canned);
  Link link(daemon.address());
  ASSERT_TRUE(link.open(state_, now_));
  wait_for_input(link);
  link.update(state_, now_ + 10s);
  EXPECT_EQ(link.wait(now_ + 10s), 90s);
  link.update(state_, now_ + 10s + 89'999ms);
  EXPECT_EQ(state_.outage, "");
  link.update(state_, now_ + 100s);
  EXPECT_EQ(state_.outage, "keplerd has stopped sending updates");
  EXPECT_EQ(link.wait(now_ + 100s), 250ms);
}

}  // namespace
}  // namespace keplerd::cli::top
