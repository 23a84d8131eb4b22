// SPDX-License-Identifier: Apache-2.0
#include "daemon/own_cost.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

TEST(OwnMemory, IsResidentMemoryWithoutFiles) {
  EXPECT_EQ(parse_anonymous_pages("81234 3000 1200 90 0 5000 0\n"), 1800);
  EXPECT_EQ(parse_anonymous_pages("1 5 5 0 0 0 0\n"), 0);
}

TEST(OwnMemory, IsNotKnownOfAnyOtherText) {
  for (const char* text :
       {"", "1", "1 2", "1 2 3", "1 2 -1", "1 x 1", "1 99999999999999 1", "1 2 99999999999999999999"}) {
    EXPECT_FALSE(parse_anonymous_pages(text)) << text;
  }
}

TEST(OwnMemory, OfThisProcessIsKnown) { EXPECT_GT(OwnMemory().read(), 100'000); }

}  // namespace
}  // namespace keplerd
