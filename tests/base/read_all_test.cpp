// SPDX-License-Identifier: Apache-2.0
#include "base/read_all.h"

#include <array>
#include <cerrno>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "base/write_all.h"

namespace keplerd {
namespace {

Result<std::string> read_back(std::string_view text, std::size_t most) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const UniqueFd out(ends[0]);
  UniqueFd in(ends[1]);
  EXPECT_TRUE(write_all(in.get(), text, "pipe").ok());
  in.reset();
  return read_all(out.get(), most, "/run/file");
}

TEST(ReadAll, ReadsUpToTheBound) {
  EXPECT_EQ(*read_back("", 4), "");
  EXPECT_EQ(*read_back("text", 4), "text");
  const auto larger = read_back("text!", 4);
  ASSERT_FALSE(larger.ok());
  EXPECT_EQ(larger.error().code, EFBIG);
}

TEST(ReadAll, ReadsWhatDoesNotFitIntoOnePiece) {
  std::string text;
  for (int i = 0; text.size() < 20'000; ++i) text += std::to_string(i);
  for (const std::size_t most : {text.size(), text.size() + 1, 10 * text.size()})
    EXPECT_EQ(*read_back(text, most), text) << most;
  EXPECT_FALSE(read_back(text, text.size() - 1).ok());
  EXPECT_FALSE(read_back(text, 4096).ok());
  EXPECT_EQ(*read_back(text.substr(0, 4096), 4096), text.substr(0, 4096));
}

TEST(ReadAll, SaysWhatFailed) {
  const auto read = read_all(-1, 4, "/run/file");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, EBADF);
  EXPECT_TRUE(read.error().message.starts_with("/run/file: "));
}

}  // namespace
}  // namespace keplerd
