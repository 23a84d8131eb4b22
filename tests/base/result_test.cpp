// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <cerrno>
#include <memory>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

TEST(Result, HoldsAValue) {
  Result<std::string> result(std::string("a"));
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(*result, "a");
  EXPECT_EQ(result->size(), 1u);
  *result += "b";
  EXPECT_EQ(*result, "ab");
}

TEST(Result, HoldsAnError) {
  const Result<int> result(Error{"f: not a number", 0});
  ASSERT_FALSE(result.ok());
  EXPECT_FALSE(static_cast<bool>(result));
  EXPECT_EQ(result.error().message, "f: not a number");
}

TEST(Result, GivesAMoveOnlyValueAway) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 7);
}

TEST(SystemError, OnlyAWantOfDescriptorsOrMemoryIsAShortage) {
  for (const int code : {EMFILE, ENFILE, ENOMEM}) EXPECT_TRUE(is_shortage(system_error("f", code)));
  for (const int code : {EACCES, EIO, ENOENT, ENODEV, 0}) EXPECT_FALSE(is_shortage(system_error("f", code)));
}

TEST(SystemError, HasSubjectCauseAndCode) {
  const Error error = system_error("/sys/x", ENOENT);
  EXPECT_EQ(error.message, "/sys/x: No such file or directory");
  EXPECT_EQ(error.code, ENOENT);
}

}  // namespace
}  // namespace keplerd
