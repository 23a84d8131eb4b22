// SPDX-License-Identifier: Apache-2.0
#include "usage/count_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(CountFile, StatesTheCountOfAllAndOfSomeGroups) {
  const auto reading = parse_count_file("5000000 1000000 9000\n18446744073709551615 0 2000000\n7 4000 0\n");
  ASSERT_TRUE(reading);
  EXPECT_EQ(*reading, (CountReading{5s, 1s, {9000}, {{7, {{4000}, 0s}}, {UINT64_MAX, {{0}, 2s}}}}));
  EXPECT_EQ(count_text(*reading), "5000000 1000000 9000\n7 4000 0\n18446744073709551615 0 2000000\n");
}

TEST(CountFile, MayNameNoGroup) {
  const auto reading = parse_count_file("5000000 5000000 4611686018427387904\n");
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->all, Count{kMostCount});
}

TEST(CountFile, RefusesWhatIsMalformed) {
  for (const char* text :
       {"", "\n", "1 1\n", "1 1 1 1\n", "1 2 3\n", "-1 0 1\n", "1 1 -1\n", "1 1 4611686018427387905\n",
        "1 1 1\n0 5 1\n", "1 1 1\n7\n", "1 1 1\n7 5\n", "1 1 1\n7 5 2\n", "1 1 1\n7 5 1 1\n",
        "1 1 1\n7 -5 1\n", "1 1 1\n7 5 1\n7 5 1\n", "1 1 1\n\n", "9223372036854775807 1 1\n"}) {
    EXPECT_FALSE(parse_count_file(text)) << text;
  }
  EXPECT_EQ(parse_count_file("1 1 1\n7 5 1\n\x1b 2 1\n").error().message,
            "line 3 is '\\x1b 2 1' (expected CGROUP COUNT SINCE)");
}

TEST(CountFile, StatesWhyTheCountIsUnknown) {
  EXPECT_EQ(parse_count_file("unknown a counter is not assigned\n").error().message,
            "a counter is not assigned");
}

TEST(CountFile, NamesABoundedNumberOfGroups) {
  std::string text = "1 1 1\n";
  for (std::size_t i = 1; i <= kMostMeasuredGroups; ++i) text += std::to_string(i) + " 1 1\n";
  EXPECT_TRUE(parse_count_file(text));
  EXPECT_THAT(parse_count_file(text + "9999999 1 1\n").error().message, HasSubstr("more than 1024 cgroups"));
}

TEST(CountFile, HasWhatIsCountedAndTheNumberOfADieAsItsName) {
  EXPECT_EQ(parse_count_file_name("memory-0"), (CountSource{CountKind::kMemoryTraffic, 0}));
  EXPECT_EQ(parse_count_file_name("cores-3"), (CountSource{CountKind::kCoreEnergy, 3}));
  for (const CountKind kind : kCountKinds) {
    const CountSource source{kind, 17};
    EXPECT_EQ(parse_count_file_name(count_file_name(source)), source);
  }
  for (const char* name : {"memory-", "memory-00", "memory--1", "memory-1024", "memory-1~", "memory", "0",
                           "Memory-0", "cores", "cores-00", "core-0"})
    EXPECT_FALSE(parse_count_file_name(name)) << name;
}

}  // namespace
}  // namespace keplerd
