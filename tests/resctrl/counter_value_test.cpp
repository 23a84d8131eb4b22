// SPDX-License-Identifier: Apache-2.0
#include "meters/resctrl/counter_value.h"

#include <gtest/gtest.h>

namespace keplerd::resctrl {
namespace {

TEST(CounterValue, IsANumberOfBytes) {
  EXPECT_EQ(*parse_bytes("0\n"), Count{0});
  EXPECT_EQ(*parse_bytes("1234567890123\n"), Count{1'234'567'890'123});
  EXPECT_EQ(*parse_bytes("16777215"), Count{(1 << 24) - 1});
  EXPECT_EQ(*parse_bytes("4611686018427387904\n"), Count{std::int64_t{1} << 62});
}

TEST(CounterValue, OrTheReasonWhyThereIsNone) {
  EXPECT_EQ(parse_bytes("Error\n").error().message, "the processor reports an error");
  EXPECT_EQ(parse_bytes("Unavailable\n").error().message,
            "the processor has no counter for this group at present");
  EXPECT_EQ(parse_bytes("Unassigned\n").error().message, "no counter has been assigned to this group");
}

TEST(CounterValue, NothingElse) {
  for (const char* text : {"", "\n", "-1\n", "+1\n", "1 2\n", "0x10\n", "1.5\n", "1\n\n", "error\n",
                           "Error \n", "4611686018427387905\n", "18446744073709551616\n"})
    EXPECT_FALSE(parse_bytes(text)) << text;
  EXPECT_EQ(parse_bytes("\x1b[31m").error().message, "'\\x1b[31m' is not a number of bytes");
}

TEST(CounterValue, OfEnergyIsANumberOfJoules) {
  EXPECT_EQ(*parse_joules("0.000000\n"), Count{0});
  EXPECT_EQ(*parse_joules("1234.567890\n"), Count{1'234'567'890});
  EXPECT_EQ(*parse_joules("0.5"), Count{500'000});
  EXPECT_EQ(*parse_joules("7\n"), Count{7'000'000});
  EXPECT_EQ(*parse_joules("0.0000019\n"), Count{1}) << "rounded down";
  EXPECT_EQ(*parse_joules("4611686018426.999999\n"), Count{4'611'686'018'426'999'999});
}

TEST(CounterValue, OfEnergyIsNothingElse) {
  for (const char* text : {"", "\n", ".5\n", "1.\n", "-1.5\n", "-0.5\n", "1.5.5\n", "1,5\n", "1.-5\n",
                           "1.5e3\n", "nan\n", "inf\n", "1.5 \n", "4611686018427.000000\n"})
    EXPECT_FALSE(parse_joules(text)) << text;
  EXPECT_EQ(parse_joules("Unavailable\n").error().message,
            "the processor has no counter for this group at present");
  EXPECT_EQ(parse_joules("\x1b[31m").error().message, "'\\x1b[31m' is not a number of joules");
}

}  // namespace
}  // namespace keplerd::resctrl
