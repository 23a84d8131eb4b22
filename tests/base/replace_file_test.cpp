// SPDX-License-Identifier: Apache-2.0
#include "base/replace_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/write_all.h"

namespace keplerd {
namespace {

namespace fs = std::filesystem;

class ReplaceFileTest : public testing::Test {
 protected:
  ReplaceFileTest() { fs::create_directory(directory); }
  ~ReplaceFileTest() override { fs::remove_all(directory); }

  std::string text() const {
    std::ifstream file(path);
    return {std::istreambuf_iterator(file), {}};
  }

  const fs::path directory =
      fs::temp_directory_path() / ("keplerd-replace-file-" + std::to_string(::getpid()));
  const std::string path = directory / "file";
};

TEST_F(ReplaceFileTest, ReplacesTheContentsAndLeavesNothingElse) {
  for (const Sync sync : {Sync::kBefore, Sync::kLater}) {
    ASSERT_TRUE(replace_file(path, "a longer text", O_WRONLY, sync).ok());
    ASSERT_TRUE(replace_file(path, "text", O_WRONLY, sync).ok());
    EXPECT_EQ(text(), "text");
    EXPECT_FALSE(fs::exists(path + ".new"));
  }
}

TEST_F(ReplaceFileTest, IsAccessibleToItsOwnerOnly) {
  ASSERT_TRUE(replace_file(path, "text", O_WRONLY, Sync::kLater).ok());
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(ReplaceFileTest, ReturnsTheNewFileForWritingAtItsEnd) {
  const auto fd = replace_file(path, "text", O_WRONLY, Sync::kLater);
  ASSERT_TRUE(fd.ok());
  ASSERT_TRUE(write_all(fd->get(), ", and more", path).ok());
  EXPECT_EQ(text(), "text, and more");
}

TEST_F(ReplaceFileTest, IfItCannotBeReplacedNothingChanges) {
  fs::create_directory(path);
  const auto replaced = replace_file(path, "text", O_WRONLY, Sync::kBefore);
  ASSERT_FALSE(replaced.ok());
  EXPECT_EQ(replaced.error().code, EISDIR);
  EXPECT_TRUE(replaced.error().message.starts_with(path + ": ")) << replaced.error().message;
  EXPECT_TRUE(fs::is_directory(path));
  EXPECT_FALSE(fs::exists(path + ".new"));
}

TEST_F(ReplaceFileTest, DoesNotFollowALink) {
  fs::create_symlink(directory / "elsewhere", path + ".new");
  const auto replaced = replace_file(path, "text", O_WRONLY, Sync::kLater);
  ASSERT_FALSE(replaced.ok());
  EXPECT_EQ(replaced.error().code, ELOOP);
  EXPECT_FALSE(fs::exists(directory / "elsewhere"));
}

}  // namespace
}  // namespace keplerd
