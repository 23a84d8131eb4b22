// SPDX-License-Identifier: Apache-2.0
#include "daemon/group_events.h"

#include <vector>

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include "base/unique_fd.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

// Both queues always have events.
class GroupEventsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_GE(sd_event_new(&loop_), 0);
    ASSERT_TRUE(events_.attach(loop_));
  }
  void TearDown() override { sd_event_unref(loop_); }

  void run_once() { sd_event_run(loop_, 0); }

  int taken(CgroupQueue queue) const { return taken_[static_cast<std::size_t>(queue)]; }

  sd_event* loop_ = nullptr;
  UniqueFd ready_{::eventfd(1, EFD_CLOEXEC)}, also_ready_{::eventfd(1, EFD_CLOEXEC)};
  Nanoseconds now_{1h}, cpu_{0}, cost_{1ms};
  std::array<int, 2> taken_{};
  CgroupQueue costly_ = CgroupQueue::kUsers;
  GroupEvents events_{{.descriptor =
                           [this](CgroupQueue queue) {
                             return queue == CgroupQueue::kRoot ? ready_.get() : also_ready_.get();
                           },
                       .take =
                           [this](CgroupQueue queue) {
                             ++taken_[static_cast<std::size_t>(queue)];
                             if (queue == costly_) cpu_ += cost_;
                           },
                       .now = [this] { return now_; },
                       .cpu_time = [this] { return cpu_; }}};
};

// 50 ms are available at once.
TEST_F(GroupEventsTest, EventsThatCostTooMuchWaitAndTheOthersDoNot) {
  for (int i = 0; i < 400; ++i) run_once();
  EXPECT_EQ(taken(CgroupQueue::kUsers), 51);
  EXPECT_EQ(taken(CgroupQueue::kRoot), 400 - 51);
}

TEST_F(GroupEventsTest, AfterAWhileTheyAreTakenAgain) {
  cost_ = 50ms + 20us;  // 20 us too much: a wait of a millisecond
  while (taken(CgroupQueue::kUsers) == 0) run_once();
  const int before = taken(CgroupQueue::kRoot);
  run_once();
  EXPECT_EQ(taken(CgroupQueue::kRoot), before + 1);
  while (taken(CgroupQueue::kUsers) == 1) run_once();
  EXPECT_EQ(taken(CgroupQueue::kUsers), 2);
}

}  // namespace
}  // namespace keplerd
