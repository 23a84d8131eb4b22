// SPDX-License-Identifier: Apache-2.0
#include "event/sources.h"

#include <csignal>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/barrier.h"
#include "base/unique_fd.h"

namespace keplerd {
namespace {

using testing::ElementsAre;

class Sources : public testing::Test {
 protected:
  Sources() { sd_event_new(&loop_); }
  ~Sources() override {
    set_barrier_log({});
    sd_event_unref(loop_);
  }
  // Runs what is due, without waiting.
  void run() {
    while (sd_event_run(loop_, 0) > 0) {
    }
  }

  sd_event* loop_ = nullptr;
  int calls_ = 0;
};

TEST_F(Sources, ATimerCallsOnceEachTimeThatItIsSet) {
  Timer timer;
  ASSERT_TRUE(timer.attach(loop_, "counting", [this] { ++calls_; }).ok());
  run();
  EXPECT_EQ(calls_, 0) << "it was not set";
  for (int set = 1; set <= 2; ++set) {
    timer.set_at(Nanoseconds{0});
    run();
    EXPECT_EQ(calls_, set);
  }
}

TEST_F(Sources, ATimerThatIsStoppedOrFarAwayDoesNotCall) {
  Timer timer;
  ASSERT_TRUE(timer.attach(loop_, "counting", [this] { ++calls_; }).ok());
  timer.set_at(Nanoseconds{0});
  timer.stop();
  run();
  timer.set_after(std::chrono::hours(1));
  run();
  EXPECT_EQ(calls_, 0);
}

TEST_F(Sources, WithoutALoopNothingHappens) {
  Timer timer;
  Deferred deferred;
  Io io;
  timer.set_at(Nanoseconds{0});
  timer.stop();
  deferred.request();
  EXPECT_FALSE(io.set_events(EPOLLIN));
  EXPECT_FALSE(timer || deferred || io);
}

TEST_F(Sources, DeferredWorkIsCalledOnceForAllRequests) {
  Deferred deferred;
  ASSERT_TRUE(deferred.attach(loop_, "counting", [this] { ++calls_; }).ok());
  deferred.request();
  deferred.request();
  run();
  EXPECT_EQ(calls_, 1);
  deferred.request();
  deferred.cancel();
  run();
  EXPECT_EQ(calls_, 1);
}

TEST_F(Sources, ADescriptorCallsWithItsEventsWhileItHasThem) {
  const UniqueFd fd(::eventfd(1, EFD_NONBLOCK));
  std::vector<std::uint32_t> events;
  Io io;
  ASSERT_TRUE(io.attach(loop_, fd.get(), EPOLLIN, "reading", [&](std::uint32_t seen) {
                  events.push_back(seen);
                  eventfd_t count = 0;
                  ::eventfd_read(fd.get(), &count);
                }).ok());
  run();
  EXPECT_THAT(events, ElementsAre(EPOLLIN));
  EXPECT_TRUE(io.set_enabled(false));
  ::eventfd_write(fd.get(), 1);
  run();
  EXPECT_EQ(events.size(), 1u);
  EXPECT_TRUE(io.set_enabled(true));
  run();
  EXPECT_EQ(events.size(), 2u);
}

TEST_F(Sources, ASignalCallsAndDoesNothingElse) {
  Signal signal;
  ASSERT_TRUE(signal.attach(loop_, SIGUSR1, "counting", [this] { ++calls_; }).ok());
  ::kill(::getpid(), SIGUSR1);
  run();
  EXPECT_EQ(calls_, 1);
}

TEST_F(Sources, AnExceptionEndsTheCallAndIsReportedWithWhatWasDone) {
  std::vector<std::string> lines;
  set_barrier_log(
      [&](const std::string& where, const std::string& what) { lines.push_back(where + ": " + what); });
  Deferred deferred;
  ASSERT_TRUE(deferred.attach(loop_, "dividing", []() -> void { throw std::runtime_error("by zero"); }).ok());
  deferred.request();
  run();
  EXPECT_THAT(lines, ElementsAre("dividing: by zero"));
}

TEST_F(Sources, MayEndInTheirOwnCall) {
  auto timer = std::make_unique<Timer>();
  const auto held = std::make_shared<int>(7);
  ASSERT_TRUE(timer
                  ->attach(loop_, "ending",
                           [this, &timer, held] {
                             timer.reset();
                             calls_ = *held;  // what it captured still exists
                           })
                  .ok());
  timer->set_at(Nanoseconds{0});
  run();
  EXPECT_EQ(calls_, 7);
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace keplerd
