// SPDX-License-Identifier: Apache-2.0
#include "base/parse.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

TEST(ParseNumber, TakesTheWholeText) {
  EXPECT_EQ(parse_number<int>("0"), 0);
  EXPECT_EQ(parse_number<int>("-12"), -12);
  EXPECT_EQ(parse_number<unsigned>("007"), 7u);
  for (const auto* text : {"", " ", " 1", "1 ", "1\n", "1.0", "0x1", "1e3", "+1", "--1", "-", "one"}) {
    EXPECT_EQ(parse_number<int>(text), std::nullopt) << text;
  }
}

TEST(ParseNumber, HasNoSignWhereTheTypeHasNone) {
  EXPECT_EQ(parse_number<unsigned>("-1"), std::nullopt);
  EXPECT_EQ(parse_number<std::uint64_t>("-0"), std::nullopt);
}

TEST(ParseNumber, RefusesWhatDoesNotFit) {
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_number<std::int64_t>("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_number<std::int64_t>("9223372036854775808"), std::nullopt);
  EXPECT_EQ(parse_number<std::uint8_t>("256"), std::nullopt);
}

TEST(Trim, TakesWhiteSpaceOffBothEndsOnly) {
  EXPECT_EQ(trim(" \t\r\na b\n"), "a b");
  EXPECT_EQ(trim("a"), "a");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(TakeUntil, TakesThePartAndItsSeparator) {
  std::string_view rest = "a::b";
  EXPECT_EQ(take_until(rest, ':'), "a");
  EXPECT_EQ(take_until(rest, ':'), "");
  EXPECT_EQ(take_until(rest, ':'), "b");
  EXPECT_TRUE(rest.empty());
  EXPECT_EQ(take_until(rest, ':'), "");
}

TEST(TakeUntil, ASeparatorAtTheEndLeavesNothing) {
  std::string_view rest = "a:";
  EXPECT_EQ(take_until(rest, ':'), "a");
  EXPECT_TRUE(rest.empty());
}

TEST(TakeWord, PassesOverBlanksAndTabs) {
  std::string_view rest = "  cpu \t 12  ";
  EXPECT_EQ(take_word(rest), "cpu");
  EXPECT_EQ(take_word(rest), "12");
  EXPECT_EQ(take_word(rest), "");
  EXPECT_TRUE(rest.empty());
}

TEST(TakeWord, DoesNotEndAtANewline) {
  std::string_view rest = "a\nb c";
  EXPECT_EQ(take_word(rest), "a\nb");
}

TEST(EqualsIgnoringCase, IsForAsciiLettersOnly) {
  EXPECT_TRUE(equals_ignoring_case("Package-0", "pACKAGE-0"));
  EXPECT_TRUE(equals_ignoring_case("", ""));
  EXPECT_FALSE(equals_ignoring_case("package", "packag"));
  EXPECT_FALSE(equals_ignoring_case("packag", "package"));
  EXPECT_FALSE(equals_ignoring_case("@", "`"));
  EXPECT_FALSE(equals_ignoring_case("[", "{"));
  EXPECT_FALSE(equals_ignoring_case("Ä", "ä"));
}

}  // namespace
}  // namespace keplerd
