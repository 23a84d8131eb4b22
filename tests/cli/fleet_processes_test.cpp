// SPDX-License-Identifier: Apache-2.0
// The commands are shells, which need no files of their own.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/fleet/processes.h"

namespace keplerd::cli::fleet {
namespace {

using testing::HasSubstr;

std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

std::map<std::size_t, Ended> run(const std::vector<std::vector<std::string>>& commands,
                                 const Limits& limits = {}) {
  std::map<std::size_t, Ended> all;
  run_all(commands, limits, [&](std::size_t index, Ended ended) {
    EXPECT_TRUE(all.emplace(index, std::move(ended)).second) << "twice: " << index;
  });
  EXPECT_EQ(all.size(), commands.size());
  return all;
}

TEST(FleetProcesses, KeepOutputsApart) {
  const auto all = run({shell("echo out; echo err >&2"), shell("exit 3"), shell("kill -9 $$")});
  EXPECT_EQ(all.at(0).output, "out\n");
  EXPECT_EQ(all.at(0).errors, "err\n");
  EXPECT_EQ(all.at(0).status, 0);
  EXPECT_EQ(all.at(1).status, 3);
  EXPECT_EQ(all.at(2).status, 128 + 9);
}

TEST(FleetProcesses, ThatCannotBeStartedSaySo) {
  const auto all = run({{"/nonexistent/ssh", "web1"}});
  EXPECT_EQ(all.at(0).status, 255);
  EXPECT_EQ(all.at(0).errors, "/nonexistent/ssh: No such file or directory\n");
}

TEST(FleetProcesses, HaveNoInput) { EXPECT_EQ(run({{"cat"}}).at(0).status, 0); }

TEST(FleetProcesses, AreEndedWhenTheirTimeIsOver) {
  Limits limits;
  limits.longest = limits.grace = std::chrono::milliseconds(20);
  const Ended asked = run({{"sleep", "1000"}}, limits).at(0);
  EXPECT_EQ(asked.stopped, Stopped::kTooLong);
  EXPECT_EQ(asked.status, 128 + SIGTERM);
  const auto inherited = std::signal(SIGTERM, SIG_IGN);
  const Ended forced = run({{"sleep", "1000"}}, limits).at(0);
  std::signal(SIGTERM, inherited);
  EXPECT_EQ(forced.stopped, Stopped::kTooLong);
  EXPECT_EQ(forced.status, 128 + SIGKILL);
}

TEST(FleetProcesses, AreEndedWhenTheyWriteTooMuch) {
  Limits limits;
  limits.most_output = 1000;
  const auto all = run({shell("yes"), shell("printf '%1000d' 0"), shell("printf '%1001d' 0")}, limits);
  EXPECT_EQ(all.at(0).stopped, Stopped::kTooMuch);
  EXPECT_EQ(all.at(1).stopped, Stopped::kNo);
  EXPECT_EQ(all.at(2).stopped, Stopped::kTooMuch);
}

TEST(FleetProcesses, KeepTheEndOfTheirErrors) {
  Limits limits;
  limits.most_errors = 10;
  const auto all = run({shell("printf '%100000d' 0 >&2; echo the reason >&2")}, limits);
  EXPECT_EQ(all.at(0).errors, "he reason\n");
}

// ssh's ControlPersist leaves one behind that keeps standard error open.
TEST(FleetProcesses, AreNotWaitedForByTheirPipes) {
  const auto all = run({shell("sleep 1000 & echo $!")});
  EXPECT_EQ(all.at(0).status, 0);
  std::system(("kill " + all.at(0).output).c_str());
}

TEST(FleetProcesses, RunAsManyAtOnceAsAllowed) {
  Limits limits;
  limits.at_once = 2;
  std::vector<std::vector<std::string>> commands(7, shell("echo x"));
  const auto all = run(commands, limits);
  EXPECT_TRUE(std::ranges::all_of(all, [](const auto& each) { return each.second.output == "x\n"; }));
}

}  // namespace
}  // namespace keplerd::cli::fleet
