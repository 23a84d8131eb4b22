// SPDX-License-Identifier: Apache-2.0
#include "base/write_all.h"

#include <array>
#include <cerrno>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace keplerd {
namespace {

TEST(WriteAll, WritesAllOfIt) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const UniqueFd out(ends[0]);
  UniqueFd in(ends[1]);
  EXPECT_TRUE(write_all(in.get(), "", "pipe").ok());
  EXPECT_TRUE(write_all(in.get(), "text", "pipe").ok());
  in.reset();
  std::array<char, 16> buffer{};
  EXPECT_EQ(::read(out.get(), buffer.data(), buffer.size()), 4);
  EXPECT_EQ(std::string(buffer.data(), 4), "text");
}

TEST(WriteAll, SaysWhatFailed) {
  const auto written = write_all(-1, "text", "/run/file");
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, EBADF);
  EXPECT_TRUE(written.error().message.starts_with("/run/file: "));
}

}  // namespace
}  // namespace keplerd
