// SPDX-License-Identifier: Apache-2.0
#include "base/journal.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace keplerd {
namespace {

TEST(Journal, IsWhatTheEnvironmentNamesAndNothingElse) {
  struct stat status {};
  ASSERT_EQ(::fstat(STDERR_FILENO, &status), 0);
  const auto stream = [&](unsigned long more) {
    return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino + more);
  };
  ::setenv("JOURNAL_STREAM", stream(0).c_str(), 1);
  EXPECT_TRUE(stderr_is_journal());
  ::setenv("JOURNAL_STREAM", stream(1).c_str(), 1);
  EXPECT_FALSE(stderr_is_journal()) << "stderr was redirected";
  ::unsetenv("JOURNAL_STREAM");
  EXPECT_FALSE(stderr_is_journal());
}

}  // namespace
}  // namespace keplerd
