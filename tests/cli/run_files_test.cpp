// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "cli/run/files.h"
#include "support/largest_file.h"
#include "varlink/json.h"

namespace keplerd::cli::run {
namespace {

class RunFiles : public testing::Test {
 protected:
  ~RunFiles() override { std::filesystem::remove(path); }

  const std::string path = testing::TempDir() + "keplerctl-phases-" + std::to_string(getpid());
};

TEST_F(RunFiles, APhaseThatCannotBeWrittenLeavesThoseBeforeIt) {
  ASSERT_TRUE(append_to_file(path, {{"label", "install"}}));
  const std::string before = *read_file(path);
  Result<Done> appended = Done{};
  {
    const LargestFile limit(before.size() + 4);
    appended = append_to_file(path, {{"label", "boot"}});
  }
  ASSERT_FALSE(appended);
  EXPECT_EQ(appended.error().message, path + ": File too large");
  EXPECT_EQ(*read_file(path), before);
}

}  // namespace
}  // namespace keplerd::cli::run
