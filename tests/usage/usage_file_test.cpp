// SPDX-License-Identifier: Apache-2.0
#include "usage/usage_file.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(UsageFile, HasTheTimeAndWhatEachProcessUsed) {
  const auto reading = parse_usage_file("12000000\n42 100 5000000\n7 99 0\n");
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(reading->time, 12s);
  EXPECT_THAT(reading->busy, ElementsAre(Pair(ProcessId{7, 99}, 0ns), Pair(ProcessId{42, 100}, 5ms)));
  EXPECT_TRUE(parse_usage_file("1\n")->busy.empty()) << "nobody uses it";
}

TEST(UsageFile, AMalformedLineSpoilsItAndIsShownEscaped) {
  for (const char* line : {"", "42", "42 1", "42 1 2 3", "42  1 2", "-1 1 2", "0 1 2", "42 -1 2", "42 1 -2",
                           "x 1 2", "42 1 9999999999999999999", "4294967338 1 2"})
    EXPECT_FALSE(parse_usage_file("1\n" + std::string(line) + "\n")) << line;
  EXPECT_THAT(parse_usage_file("1\n\x1b[2J\n").error().message, HasSubstr("line 2 is '\\x1b[2J'"));
  for (const char* text : {"", "\n", "x\n", "-1\n", "9223372036854775807\n"})
    EXPECT_FALSE(parse_usage_file(text)) << text;
}

TEST(UsageFile, MayStateWhyTheUseIsNotKnown) {
  EXPECT_EQ(parse_usage_file("unknown the driver does not report it\n").error().message,
            "the driver does not report it");
}

TEST(UsageFile, NamesEachProcessOnceAndABoundedNumber) {
  EXPECT_FALSE(parse_usage_file("1\n42 1 2\n42 1 2\n"));
  EXPECT_TRUE(parse_usage_file("1\n42 1 2\n42 2 2\n")) << "the pid was used again";
  std::string text = "1\n";
  for (std::size_t i = 1; i <= kMostUsers; ++i) text += std::to_string(i) + " 1 1\n";
  EXPECT_TRUE(parse_usage_file(text));
  EXPECT_LE(text.size(), kLongestUsageFile);
  EXPECT_THAT(parse_usage_file(text + "5000 1 1\n").error().message, HasSubstr("more than 1024 processes"));
}

}  // namespace
}  // namespace keplerd
