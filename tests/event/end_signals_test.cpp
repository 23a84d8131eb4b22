// SPDX-License-Identifier: Apache-2.0
#include "event/end_signals.h"

#include <csignal>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

class EndSignalsOf : public testing::TestWithParam<int> {
 protected:
  EndSignalsOf() { sd_event_new(&loop_); }
  ~EndSignalsOf() override { sd_event_unref(loop_); }

  sd_event* loop_ = nullptr;
};

TEST_P(EndSignalsOf, EndTheLoopWithoutAFailure) {
  EndSignals signals;
  ASSERT_TRUE(signals.attach(loop_));
  ::raise(GetParam());
  EXPECT_EQ(sd_event_loop(loop_), 0);
  signals.reset();
}
INSTANTIATE_TEST_SUITE_P(Signals, EndSignalsOf, testing::Values(SIGTERM, SIGINT));

TEST_F(EndSignalsOf, AClientThatDisconnectsDoesNotEndTheProcess) {
  EndSignals signals;
  ASSERT_TRUE(signals.attach(loop_));
  ::raise(SIGPIPE);
}

}  // namespace
}  // namespace keplerd
