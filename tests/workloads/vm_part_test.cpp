// SPDX-License-Identifier: Apache-2.0
#include "workloads/vm_part.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

TEST(VmPart, OfAThreadIsByTheNamesOfQemuAndTheKernel) {
  EXPECT_EQ(vm_part_of_thread("CPU 0/KVM"), "vcpu0");
  EXPECT_EQ(vm_part_of_thread("CPU 12/TCG"), "vcpu12");
  EXPECT_EQ(vm_part_of_thread("IO disk1"), "iothread:disk1");
  EXPECT_EQ(vm_part_of_thread("vhost-4711"), "vhost");
  for (const char* const name : {"qemu-system-x86", "worker", "vnc_worker", "CPU x/KVM", "CPU 1", "CPU 1/",
                                 "IO ", "vhost-", "vhost-a", "", "other", "CPU /KVM"}) {
    EXPECT_EQ(vm_part_of_thread(name), "emulator") << name;
  }
}

TEST(VmPart, OfACgroupIsAsLibvirtCallsIt) {
  for (const char* const name : {"vcpu0", "emulator", "iothread1"}) EXPECT_EQ(vm_part_of_cgroup(name), name);
  EXPECT_EQ(vm_part_of_cgroup("other"), "emulator");
}

TEST(VmPart, VcpusAreDistinguished) {
  EXPECT_TRUE(is_vcpu("vcpu0"));
  EXPECT_FALSE(is_vcpu("vcpu"));
  EXPECT_FALSE(is_vcpu("vcpux"));
  EXPECT_FALSE(is_vcpu("emulator"));
}

TEST(VmPart, NumbersAreInTheirOrder) {
  std::vector<std::string_view> parts = {"vcpu10", "vcpu2", "iothread1", "emulator", "vcpu0", "7", ""};
  std::ranges::sort(parts, PartOrder());
  EXPECT_EQ(parts,
            (std::vector<std::string_view>{"", "7", "emulator", "iothread1", "vcpu0", "vcpu2", "vcpu10"}));
}

}  // namespace
}  // namespace keplerd
