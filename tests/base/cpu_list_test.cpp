// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CpuList, IsNumbersAndRanges) {
  EXPECT_THAT(*parse_cpu_list("0\n"), ElementsAre(0));
  EXPECT_THAT(*parse_cpu_list("0,24-26,3"), ElementsAre(0, 3, 24, 25, 26));
  EXPECT_THAT(*parse_cpu_list("\n"), IsEmpty());
}

TEST(CpuList, IsNotGarbage) {
  for (const char* text : {"a", ",", "3-1", "-1", "0-65536", "0-4294967295", "0x1", "1 2"}) {
    EXPECT_EQ(parse_cpu_list(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace keplerd
