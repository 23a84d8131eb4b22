// SPDX-License-Identifier: Apache-2.0
#include "energy/processor.h"

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
