// SPDX-License-Identifier: Apache-2.0
// The fake itself follows the kernel's formats, as far as tests rely on them.
#include "support/fake_host.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace keplerd {
namespace {

ino_t inode(int directory, const char* path) {
  struct stat status {};
  EXPECT_EQ(::fstatat(directory, path, &status, 0), 0) << path;
  return status.st_ino;
}

TEST(FakeHost, ZonesNestAsInTheKernelAndAreListedFlat) {
  FakeHost fake;
  fake.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0", .energy = 5});
  fake.add_powercap_zone({.dir = "intel-rapl:0:1", .name = "dram", .energy = 7});
  const auto host = fake.open();
  for (const char* path : {"class/powercap/intel-rapl:0:1/energy_uj",
                           "devices/virtual/powercap/intel-rapl/intel-rapl:0/intel-rapl:0:1/energy_uj",
                           "class/powercap/intel-rapl/intel-rapl:0/intel-rapl:0:1/energy_uj"}) {
    EXPECT_EQ(*read_text(host.sysfs(), path, 100), "7\n") << path;
  }
  EXPECT_EQ(list_directory(host.sysfs(), "class/powercap")->size(), 3U);
  fake.remove_powercap_zone("intel-rapl:0");
  EXPECT_EQ(list_directory(host.sysfs(), "class/powercap")->size(), 1U);
}

TEST(FakeHost, StatOfAProcessHas52Fields) {
  FakeHost fake;
  fake.add_process({.pid = 42, .comm = "a b", .start = 7, .utime = 3, .stime = 4});
  const auto host = fake.open();
  const auto stat = *read_text(host.procfs(), "42/stat", 1000);
  EXPECT_TRUE(stat.starts_with("42 (a b) S 1 42 42 0 -1 4194304 0 0 0 0 3 4 0 0 20 0 1 0 7 ")) << stat;
  const auto after_comm = stat.substr(stat.find(')'));
  EXPECT_EQ(std::count(after_comm.begin(), after_comm.end(), ' '), 50);
}

TEST(FakeHost, ProcessIsListedByItsGroupAndMoves) {
  FakeHost fake;
  fake.add_cgroup("/a/b");
  fake.add_cgroup("/c");
  fake.add_process({.pid = 42, .cgroup = "/a/b"});
  const auto host = fake.open();
  EXPECT_EQ(*read_text(*host.cgroupfs(), "a/b/cgroup.procs", 100), "42\n");
  fake.move_process(42, "/c");
  EXPECT_EQ(*read_text(*host.cgroupfs(), "a/b/cgroup.procs", 100), "");
  EXPECT_EQ(*read_text(*host.cgroupfs(), "c/cgroup.procs", 100), "42\n");
  EXPECT_EQ(*read_text(host.procfs(), "42/cgroup", 100), "0::/c\n");
  fake.remove_process(42);
  EXPECT_EQ(*read_text(*host.cgroupfs(), "c/cgroup.procs", 100), "");
  EXPECT_FALSE(read_text(host.procfs(), "42/stat", 1000));
}

TEST(FakeHost, ProcessOfAThreadedGroupIsListedByItsDomain) {
  FakeHost fake;
  fake.add_cgroup("/vm/emulator");
  fake.set_cgroup_type("/vm/emulator", "threaded");
  fake.add_process({.pid = 42, .cgroup = "/vm/emulator"});
  const auto host = fake.open();
  EXPECT_EQ(*read_text(*host.cgroupfs(), "vm/cgroup.procs", 100), "42\n");
  EXPECT_EQ(*read_text(*host.cgroupfs(), "vm/emulator/cgroup.type", 100), "threaded\n");
  EXPECT_FALSE(read_text(*host.cgroupfs(), "vm/emulator/cgroup.procs", 100));
}

TEST(FakeHost, RebornGroupHasAnotherInode) {
  FakeHost fake;
  fake.add_cgroup("/a", 5);
  const auto host = fake.open();
  const auto before = inode(*host.cgroupfs(), "a");
  fake.remove_cgroup("/a");
  fake.add_cgroup("/a");
  EXPECT_NE(inode(*host.cgroupfs(), "a"), before);
}

}  // namespace
}  // namespace keplerd
