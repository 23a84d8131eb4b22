// SPDX-License-Identifier: Apache-2.0
// Real processes; the one that waits is the test.
#include <cerrno>
#include <csignal>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/run/child.h"

namespace keplerd::cli::run {
namespace {

Ended wait_for(Child& child, const Signals& signals) {
  for (;;) {
    if (const auto ended = child.poll_end()) return *ended;
    pollfd input{signals.fd(), POLLIN, 0};
    poll(&input, 1, -1);
  }
}

int status_of(const std::vector<std::string>& command) {
  Signals signals;
  auto child = Child::make(command, signals);
  if (!child || !child->start()) return -1;
  return wait_for(*child, signals).status;
}

TEST(RunChild, DoesNothingBeforeItIsStarted) {
  Signals signals;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  auto child = Child::make({"sh", "-c", "echo >&" + std::to_string(writer.get())}, signals);
  ASSERT_TRUE(child);
  writer.reset();
  pollfd input{reader.get(), POLLIN, 0};
  EXPECT_EQ(poll(&input, 1, 0), 0);
  EXPECT_EQ(child->poll_end(), std::nullopt);
  ASSERT_TRUE(child->start());
  EXPECT_EQ(poll(&input, 1, -1), 1);
  EXPECT_EQ(wait_for(*child, signals).status, 0);
}

TEST(RunChild, EndsWithoutTheCommandIfNobodyStartsIt) {
  Signals signals;
  pid_t pid = 0;
  {
    const auto child = Child::make({"true"}, signals);
    ASSERT_TRUE(child);
    pid = child->pid();
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WEXITSTATUS(status), 126);
}

TEST(RunChild, HasTheExitStatusOfAShell) {
  EXPECT_EQ(status_of({"true"}), 0);
  EXPECT_EQ(status_of({"sh", "-c", "exit 42"}), 42);
  EXPECT_EQ(status_of({"sh", "-c", "kill -KILL $$"}), 128 + SIGKILL);
}

TEST(RunChild, WhatCannotBeStartedIsAnError) {
  Signals signals;
  auto missing = Child::make({"/nonexistent/program"}, signals);
  const auto started = missing->start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message, "/nonexistent/program: No such file or directory");
  EXPECT_EQ(status_of_failed_start(started.error().code), 127);
  auto forbidden = Child::make({"/etc/passwd"}, signals);
  EXPECT_EQ(status_of_failed_start(forbidden->start().error().code), 126);
}

TEST(RunSignals, ArePassedOnToTheCommandAndAskForAnEnd) {
  Signals signals;
  auto child = Child::make({"sleep", "1000"}, signals);
  ASSERT_TRUE(child->start());
  EXPECT_FALSE(signals.take(child->pid()));
  kill(getpid(), SIGTERM);
  EXPECT_TRUE(signals.take(child->pid()));
  const Ended ended = wait_for(*child, signals);
  EXPECT_EQ(ended.status, 128 + SIGTERM);
  EXPECT_TRUE(ended.by_signal);
}

TEST(RunSignals, OfUsersArePassedOnAndAskForNothing) {
  Signals signals;
  auto child = Child::make({"sleep", "1000"}, signals);
  ASSERT_TRUE(child->start());
  kill(getpid(), SIGUSR1);
  EXPECT_FALSE(signals.take(child->pid()));
  EXPECT_EQ(wait_for(*child, signals).status, 128 + SIGUSR1);
}

TEST(RunHolder, LivesThroughSignalsUntilItIsNotNeeded) {
  pid_t pid = 0;
  {
    const auto holder = Holder::make();
    ASSERT_TRUE(holder);
    pid = holder->pid();
    kill(pid, SIGTERM);
    kill(pid, SIGINT);
    EXPECT_EQ(waitpid(pid, nullptr, WNOHANG), 0);
  }
  EXPECT_EQ(waitpid(pid, nullptr, 0), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace keplerd::cli::run
