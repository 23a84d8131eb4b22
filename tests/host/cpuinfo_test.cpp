// SPDX-License-Identifier: Apache-2.0
#include "host/cpuinfo.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

constexpr char kTwo[] =
    "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu vme\nbugs\t\t:\n\n"
    "processor\t: 1\nvendor_id\t: AuthenticAMD\nmicrocode\t: 0x1\n";

TEST(Cpuinfo, HasTheFieldsOfTheFirstProcessor) {
  EXPECT_EQ(cpuinfo_field(kTwo, "vendor_id"), "GenuineIntel");
  EXPECT_EQ(cpuinfo_field(kTwo, "flags"), "fpu vme");
  EXPECT_EQ(cpuinfo_field(kTwo, "bugs"), "");
  EXPECT_FALSE(cpuinfo_field(kTwo, "microcode")) << "it is of the second";
  EXPECT_FALSE(cpuinfo_field(kTwo, "vendor"));
  EXPECT_FALSE(cpuinfo_field("", "vendor_id"));
}

TEST(Cpuinfo, HygonBuildsWhatIsAmds) {
  EXPECT_TRUE(is_amd("AuthenticAMD"));
  EXPECT_TRUE(is_amd("HygonGenuine"));
  EXPECT_FALSE(is_amd("GenuineIntel"));
  EXPECT_FALSE(is_amd(""));
}

}  // namespace
}  // namespace keplerd
