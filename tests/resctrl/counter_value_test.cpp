// SPDX-License-Identifier: Apache-2.0
#include "meters/resctrl/counter_value.h"

#include <gtest/gtest.h>

namespace keplerd::resctrl {
namespace {

TEST(CounterValue, IsANumberOfBytes) {
  EXPECT_EQ(*parse_counter("0\n"), Bytes{0});
  EXPECT_EQ(*parse_counter("1234567890123\n"), Bytes{1'234'567'890'123});
  EXPECT_EQ(*parse_counter("16777215"), Bytes{(1 << 24) - 1});
  EXPECT_EQ(*parse_counter("4611686018427387904\n"), Bytes{std::int64_t{1} << 62});
}

TEST(CounterValue, OrTheReasonWhyThereIsNone) {
  EXPECT_EQ(parse_counter("Error\n").error().message, "the processor reports an error");
  EXPECT_EQ(parse_counter("Unavailable\n").error().message,
            "the processor has no counter for this group at present");
  EXPECT_EQ(parse_counter("Unassigned\n").error().message, "no counter has been assigned to this group");
}

TEST(CounterValue, NothingElse) {
  for (const char* text : {"", "\n", "-1\n", "+1\n", "1 2\n", "0x10\n", "1.5\n", "1\n\n", "error\n",
                           "Error \n", "4611686018427387905\n", "18446744073709551616\n"})
    EXPECT_FALSE(parse_counter(text)) << text;
  EXPECT_EQ(parse_counter("\x1b[31m").error().message, "'\\x1b[31m' is not a number of bytes");
}

}  // namespace
}  // namespace keplerd::resctrl
