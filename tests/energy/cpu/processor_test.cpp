// SPDX-License-Identifier: Apache-2.0
#include "energy/cpu/processor.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

TEST(Processor, IsAmdByItsVendor) {
  EXPECT_TRUE(parse_processor("processor\t: 0\nvendor_id\t: AuthenticAMD\n").amd);
  EXPECT_TRUE(parse_processor("processor\t: 0\nvendor_id\t: HygonGenuine\n").amd);
  EXPECT_FALSE(parse_processor("processor\t: 0\nvendor_id\t: GenuineIntel\n").amd);
}

TEST(Processor, IsOfAVirtualMachineByAWholeFlag) {
  EXPECT_TRUE(parse_processor("flags\t\t: fpu vme hypervisor lahf_lm\n").virtual_machine);
  EXPECT_TRUE(parse_processor("flags\t\t: fpu hypervisor").virtual_machine);
  EXPECT_FALSE(parse_processor("flags\t\t: fpu hypervisor2 vme\n").virtual_machine);
  EXPECT_FALSE(parse_processor("vmx flags\t: hypervisor\n").virtual_machine);
}

TEST(Processor, HasSgxOnByAWholeFlag) {
  EXPECT_TRUE(parse_processor("vendor_id\t: GenuineIntel\nflags\t\t: fpu sgx sgx_lc\n").sgx);
  EXPECT_FALSE(parse_processor("vendor_id\t: GenuineIntel\nflags\t\t: fpu sgx_lc\n").sgx);
}

TEST(ProcessorQuality, IsThatOfAModelWhereCountersAreFilteredOrAreOne) {
  Zone zone;
  set_quality(zone, {});
  EXPECT_EQ(zone.quality, Quality::kMeasured);
  EXPECT_EQ(zone.quality_reason, "");
  set_quality(zone, {.sgx = true});
  EXPECT_EQ(zone.quality, Quality::kModelled);
  EXPECT_EQ(zone.quality_reason,
            "energy counters are filtered because SGX is enabled: noise is added to them");
  Zone amd;
  set_quality(amd, {.amd = true});
  EXPECT_EQ(amd.quality, Quality::kModelled);
  EXPECT_EQ(amd.quality_reason, "") << "it is what AMD's counters are";
}

TEST(Processor, IsTheFirstOne) {
  EXPECT_FALSE(parse_processor("processor\t: 0\n\nprocessor\t: 1\nvendor_id\t: AuthenticAMD\n").amd);
}

TEST(Processor, OfAnotherKindIsNeither) {
  const auto arm = parse_processor("processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\n");
  EXPECT_FALSE(arm.amd);
  EXPECT_FALSE(arm.virtual_machine);
  EXPECT_FALSE(parse_processor("").amd);
}

}  // namespace
}  // namespace keplerd
