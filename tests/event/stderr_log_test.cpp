// SPDX-License-Identifier: Apache-2.0
#include "event/stderr_log.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

TEST(StderrLog, NamesTheProgramIfItIsNotTheJournal) {
  testing::internal::CaptureStderr();
  stderr_log::log_info("one");
  stderr_log::log_warning("two");
  stderr_log::log_error("three");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "event_test: one\nevent_test: two\nevent_test: three\n");
}

}  // namespace
}  // namespace keplerd
