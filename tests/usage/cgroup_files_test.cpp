// SPDX-License-Identifier: Apache-2.0
#include "usage/cgroup_files.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;

TEST(CpuStat, YieldsTheUsage) {
  const auto usage =
      parse_cpu_stat("usage_usec 7390351\nuser_usec 4590000\nsystem_usec 2800351\nnice_usec 0\n");
  ASSERT_TRUE(usage);
  EXPECT_EQ(*usage, 7390351us);
  EXPECT_EQ(*parse_cpu_stat("a 1\nusage_usec 5"), 5us);  // in any place
}

TEST(CpuStat, MissingOrMalformedIsAnError) {
  for (const char* text : {"", "\n\n", "user_usec 5\n", "usage_usec\n", "usage_usec \n", "usage_usec x\n",
                           "usage_usec -5\n", "usage_usec 5 6\n", "usage_usec 99999999999999999999\n",
                           "usage_usec 9223372036854776\n", "usage_usecs 5\n"}) {
    EXPECT_FALSE(parse_cpu_stat(text)) << text;
  }
}

// 256 processors busy for a year.
TEST(CpuStat, TimeOfALargeMachineIsKnown) {
  const auto usage = parse_cpu_stat("usage_usec 8073216000000000\n");
  ASSERT_TRUE(usage);
  EXPECT_EQ(*usage, 8073216000s);
}

TEST(CgroupEvents, YieldWhetherThereAreProcesses) {
  EXPECT_TRUE(parse_populated("populated 1\nfrozen 0\n"));
  EXPECT_TRUE(parse_populated("frozen 0\npopulated 1"));  // in any place
  for (const char* text : {"", "\n", "populated 0\nfrozen 1\n", "frozen 1\n", "populated\n",
                           "populated 1 1\n", "populated 11\n", "unpopulated 1\n"}) {
    EXPECT_FALSE(parse_populated(text)) << text;
  }
}

TEST(CpuMax, IsTheTimeInASecond) {
  EXPECT_EQ(*parse_cpu_max("150000 100000\n"), Nanoseconds(1500ms));
  EXPECT_EQ(*parse_cpu_max("1000 1000000"), Nanoseconds(1ms));
  EXPECT_EQ(*parse_cpu_max("10000 30000"), Nanoseconds(333'333us)) << "whole microseconds";
  EXPECT_EQ(*parse_cpu_max("max 100000\n"), std::nullopt);
  EXPECT_EQ(*parse_cpu_max("9223372036854775807 1000000"), Nanoseconds(8192s)) << "more than any host has";
}

TEST(CpuMax, MissingOrMalformedIsAnError) {
  for (const char* text : {"", "\n", "max", "100000", "100000 0\n", "100000 1000001", "-1 100000", "x 100000",
                           "100000 -1", "99999999999999999999 100000", "1 2 3"}) {
    EXPECT_FALSE(parse_cpu_max(text)) << text;
  }
}

TEST(MemoryMax, IsInBytes) {
  EXPECT_EQ(*parse_memory_max("4294967296\n"), 4'294'967'296);
  EXPECT_EQ(*parse_memory_max("0\n"), 0);
  EXPECT_EQ(*parse_memory_max("max\n"), std::nullopt);
  for (const char* text : {"", "\n", "-1", "4G", "1 2", "99999999999999999999"})
    EXPECT_FALSE(parse_memory_max(text)) << text;
}

}  // namespace
}  // namespace keplerd
