// SPDX-License-Identifier: Apache-2.0
// How monitor survives a restart of keplerd. Waits for the sockets only; the time is the test's.
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "cli/fake_daemon.h"
#include "cli/verbs/monitor.h"

namespace keplerd::cli {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr const char* kLost = "keplerctl: the daemon closed the connection; waiting for keplerd\n";
constexpr const char* kBack = "keplerctl: connected to keplerd again\n";
constexpr const char* kEnded = "keplerctl: keplerd answered with the error org.example.Ended\n";

class Restarted : public testing::Test {
 protected:
  struct Enough {};

  static Json tick(std::int64_t sequence, std::vector<Json> rows = {}) {
    Json status = measured_status();
    status["sequence"] = sequence;
    return tick_of(status, std::move(rows));
  }

  // Pauses end at once.
  Follow::Clock clock() {
    return {[this] { return now_; },
            [this](int fd, std::optional<std::chrono::milliseconds> timeout) {
              if (fd >= 0 && !(timeout && silent_)) {
                pollfd input{fd, POLLIN, 0};
                ASSERT_EQ(poll(&input, 1, 60'000), 1);
                return;
              }
              now_ += *timeout;
              (fd < 0 ? pauses_ : waits_).push_back(*timeout);
              if (now_ >= enough_) throw Enough();
            }};
  }

  int run(const FakeDaemon& daemon) {
    options_.address = daemon.address();
    const Context context{options_, terminal_, out_, err_};
    return follow_daemon(context, clock());
  }

  static std::string text(std::vector<Json> rows) { return Json({{"units", std::move(rows)}}).dump() + "\n"; }

  Follow::Time now_ = Follow::Time{} + 1000s, enough_ = now_ + 24h;
  std::vector<std::chrono::milliseconds> pauses_, waits_;
  bool silent_ = false;  // nothing arrives before the end of a wait
  Options options_;
  Terminal terminal_;
  std::ostringstream out_, err_;
};

TEST_F(Restarted, MonitorGoesOnWithTheRowsOfTheNewConnection) {
  const auto rows = unit_rows();
  Canned before, after;
  before.ticks = {tick(7, {rows[0], rows[1]}), tick(8, {rows[0]})};
  before.then_gone = true;
  after.ticks = {tick(1, {rows[1]})};
  const FakeDaemon daemon(std::vector{before, after});
  options_.kind = "units";
  options_.json = JsonMode::kShort;
  options_.framing = Framing::kLines;
  EXPECT_EQ(run(daemon), kFailed);
  EXPECT_EQ(out_.str(), text({rows[0], rows[1]}) + text({rows[0], rows[1]}) + text({rows[1]}));
  EXPECT_EQ(err_.str(), std::string(kLost) + kBack + kEnded);
  EXPECT_THAT(pauses_, ElementsAre(250ms));
}

TEST_F(Restarted, TheCountIsThatOfAllConnections) {
  Canned before, after;
  before.ticks = {tick(7), tick(8)};
  before.then_gone = true;
  after.ticks = {tick(1), tick(2)};
  const FakeDaemon daemon(std::vector{before, after});
  options_.count = 3;
  options_.legend = false;
  EXPECT_EQ(run(daemon), kFine);
  const std::string lines = out_.str();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3);
  EXPECT_EQ(err_.str(), std::string(kLost) + kBack);
}

TEST_F(Restarted, TheStatusComesFromTheNewConnection) {
  Canned before, after;
  before.ticks = {tick(7)};
  before.statuses = {tick(7)};
  before.then_silent = before.gone_after_status = true;
  after.ticks = {tick(7)};  // the same number: a sample nevertheless
  after.statuses = {tick(7)};
  const FakeDaemon daemon(std::vector{before, after});
  options_.count = 2;
  options_.json = JsonMode::kShort;
  EXPECT_EQ(run(daemon), kFine);
  const std::string texts = out_.str();
  EXPECT_EQ(std::count(texts.begin(), texts.end(), '\x1e'), 2);
  EXPECT_EQ(err_.str(), std::string(kLost) + kBack);
}

TEST_F(Restarted, WithACountItGivesUpAfterThirtySeconds) {
  Canned canned;
  canned.ticks = {tick(1)};
  canned.then_gone = true;
  const FakeDaemon daemon(canned);
  options_.count = 2;
  EXPECT_EQ(run(daemon), kFailed);
  EXPECT_EQ(err_.str(), std::string(kLost) + "keplerctl: keplerd has not returned within 30 s\n");
  EXPECT_THAT(pauses_, ElementsAre(250ms, 500ms, 1s, 2s, 4s, 5s, 5s, 5s, 5s,
                                   30s - 250ms - 500ms - 1s - 2s - 4s - 20s));
}

TEST_F(Restarted, WithACountItDoesNotWaitForOneThatAcceptsAndIsSilentEither) {
  Canned before, silent;
  before.ticks = {tick(1)};
  before.then_gone = true;
  silent.then_silent = true;
  const FakeDaemon daemon(std::vector{before, silent});
  options_.count = 2;
  silent_ = true;
  EXPECT_EQ(run(daemon), kFailed);
  EXPECT_EQ(err_.str(), std::string(kLost) + "keplerctl: keplerd has not returned within 30 s\n");
  EXPECT_THAT(waits_, ElementsAre(30s - 250ms));
}

TEST_F(Restarted, WithoutACountItNeverGivesUpAndSaysSoOnce) {
  Canned canned;
  canned.ticks = {tick(1)};
  canned.then_gone = true;
  const FakeDaemon daemon(canned);
  options_.json = JsonMode::kShort;
  options_.kind = "units";
  EXPECT_THROW(run(daemon), Enough);
  EXPECT_EQ(err_.str(), kLost);
  EXPECT_EQ(pauses_.back(), 5s);
}

TEST_F(Restarted, OneThatEndsBeforeItsFirstReplyIsAFailure) {
  Canned canned;
  canned.then_gone = true;
  const FakeDaemon daemon(canned);
  options_.json = JsonMode::kShort;
  EXPECT_EQ(run(daemon), kFailed);
  EXPECT_EQ(err_.str(), "keplerctl: the daemon closed the connection\n");
  EXPECT_THAT(pauses_, ElementsAre());
}

}  // namespace
}  // namespace keplerd::cli
