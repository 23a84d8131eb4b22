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

}  // namespace
}  // namespace keplerd
