// SPDX-License-Identifier: Apache-2.0
// A job is held by a promise for as long as a test wants it to hang.
#include "daemon/background_job.h"

#include <chrono>
#include <csignal>
#include <future>
#include <set>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/barrier.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class BackgroundJobs : public testing::Test {
 protected:
  BackgroundJobs() {
    sd_event_new(&loop);
    job = std::make_unique<BackgroundJob>(loop, "testing");
  }
  ~BackgroundJobs() override {
    set_barrier_log({});
    job.reset();
    sd_event_unref(loop);
  }
  // Runs what the loop has to do now, without waiting.
  void turn() {
    while (sd_event_run(loop, 0) > 0) continue;
  }
  void turn_until_done() {
    while (job->is_busy()) sd_event_run(loop, UINT64_MAX);
  }
  // A job that hangs until `let_go` is set.
  std::promise<void> start_held() {
    std::promise<void> let_go;
    EXPECT_TRUE(job->start([held = let_go.get_future().share()] { held.wait(); }, [this] { ++done; }).ok());
    return let_go;
  }

  sd_event* loop = nullptr;
  std::unique_ptr<BackgroundJob> job;
  int done = 0;
};

TEST_F(BackgroundJobs, WorkIsInAnotherThreadAndWhatFollowsOnTheLoop) {
  const auto here = std::this_thread::get_id();
  std::thread::id worked, finished;
  ASSERT_TRUE(
      job->start([&] { worked = std::this_thread::get_id(); }, [&] { finished = std::this_thread::get_id(); })
          .ok());
  turn_until_done();
  EXPECT_NE(worked, here);
  EXPECT_EQ(finished, here);
}

TEST_F(BackgroundJobs, AJobThatHangsDoesNotHoldTheLoop) {
  auto let_go = start_held();
  turn();
  EXPECT_TRUE(job->is_busy());
  EXPECT_EQ(done, 0);
  let_go.set_value();
  turn_until_done();
  EXPECT_EQ(done, 1);
}

TEST_F(BackgroundJobs, JobsFollowOneAnother) {
  for (int i = 1; i <= 100; ++i) {
    start_held().set_value();
    // A late wake-up by the previous job must not be mistaken for the end of this one.
    i % 2 == 0 ? turn_until_done() : static_cast<void>(job->wait(1h));
    EXPECT_EQ(done, i);
  }
}

// On a host without pids.current, each new thread makes keplerd read all lists of processes again.
TEST_F(BackgroundJobs, AllJobsShareOneThread) {
  std::set<pid_t> threads;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(job->start([&] { threads.insert(::gettid()); }, [] {}).ok());
    turn_until_done();
  }
  EXPECT_EQ(threads.size(), 1U);
}

TEST_F(BackgroundJobs, TheThreadEndsWithItsOwner) {
  struct Mark {
    std::promise<void> ended;
    ~Mark() { ended.set_value(); }
  };
  std::future<void> ended;
  ASSERT_TRUE(job->start(
                     [&] {
                       thread_local Mark mark;
                       ended = mark.ended.get_future();
                     },
                     [] {})
                  .ok());
  turn_until_done();
  EXPECT_EQ(ended.wait_for(0s), std::future_status::timeout);
  job.reset();
  EXPECT_EQ(ended.wait_for(1min), std::future_status::ready);
}

TEST_F(BackgroundJobs, WorkIsDoneEvenIfItsOwnerGoesAtOnce) {
  for (int i = 0; i < 100; ++i) {
    const auto worked = std::make_shared<std::promise<void>>();
    const auto result = worked->get_future();
    {
      BackgroundJob gone(loop, "testing");
      ASSERT_TRUE(gone.start([worked] { worked->set_value(); }, [] {}).ok());
    }
    ASSERT_EQ(result.wait_for(1min), std::future_status::ready);
  }
}

TEST_F(BackgroundJobs, MayStartTheNextOneFromItsEnd) {
  ASSERT_TRUE(job->start([] {}, [this] { start_held().set_value(); }).ok());
  while (done == 0) sd_event_run(loop, UINT64_MAX);
  EXPECT_EQ(done, 1);
}

TEST_F(BackgroundJobs, ExceptionsAreReportedFromTheLoopAndEndNothingElse) {
  std::string line;
  set_barrier_log(
      [&](const std::string& where, const std::string& what) { line += where + ": " + what + "\n"; });
  ASSERT_TRUE(job->start([] { throw std::runtime_error("broken"); },
                         [this] {
                           ++done;
                           throw std::runtime_error("broken again");
                         })
                  .ok());
  turn_until_done();
  EXPECT_EQ(done, 1);
  EXPECT_EQ(line, "testing: broken\ntesting: broken again\n");
}

TEST_F(BackgroundJobs, NoSignalIsDeliveredToTheThread) {
  sigset_t blocked;
  sigemptyset(&blocked);
  ASSERT_TRUE(job->start([&] { ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked); }, [] {}).ok());
  turn_until_done();
  for (const int signal : {SIGTERM, SIGHUP, SIGCHLD, SIGUSR1}) {
    EXPECT_EQ(sigismember(&blocked, signal), 1) << signal;
    sigset_t here;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &here);
    EXPECT_EQ(sigismember(&here, signal), 0) << signal;
  }
}

TEST_F(BackgroundJobs, WaitingIsBounded) {
  auto let_go = start_held();
  EXPECT_FALSE(job->wait(0ns));
  EXPECT_FALSE(job->wait(1ms));
  EXPECT_TRUE(job->is_busy());
  let_go.set_value();
  EXPECT_TRUE(job->wait(1h));
  EXPECT_EQ(done, 1);
  EXPECT_TRUE(job->wait(0ns)) << "nothing is under way";
}

TEST_F(BackgroundJobs, AJobThatHangsIsLeftBehindAndStillOwnsWhatItUses) {
  struct Owned {
    std::promise<void> freed;
    ~Owned() { freed.set_value(); }
  };
  auto owned = std::make_shared<Owned>();
  const auto freed = owned->freed.get_future();
  std::promise<void> let_go;
  ASSERT_TRUE(
      job->start([held = let_go.get_future().share(), owned] { held.wait(); }, [this] { ++done; }).ok());
  owned.reset();
  job.reset();
  EXPECT_EQ(freed.wait_for(0s), std::future_status::timeout);
  let_go.set_value();
  freed.wait();
  turn();
  EXPECT_EQ(done, 0);
}

}  // namespace
}  // namespace keplerd
