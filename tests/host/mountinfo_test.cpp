// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "host/host_root.h"

namespace keplerd {
namespace {

TEST(FindCgroup2, IsAtTheUsualPlaceOnAUnifiedHost) {
  EXPECT_EQ(
      find_cgroup2("23 28 0:21 / /proc rw,nosuid shared:12 - proc proc rw\n"
                   "31 24 0:27 / /sys/fs/cgroup rw,nosuid,nodev shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"),
      "/sys/fs/cgroup");
}

TEST(FindCgroup2, IsAtUnifiedOnAHybridHost) {
  EXPECT_EQ(find_cgroup2("31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
                         "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
                         "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"),
            "/sys/fs/cgroup/unified");
}

TEST(FindCgroup2, IsNotThereOnAPureVersion1Host) {
  EXPECT_EQ(find_cgroup2("32 31 0:29 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n"),
            std::nullopt);
  EXPECT_EQ(find_cgroup2(""), std::nullopt);
}

TEST(FindCgroup2, PrefersTheUsualPlacesInWhateverOrder) {
  const std::string other = "9 1 0:9 / /mnt/cg rw - cgroup2 cgroup2 rw\n";
  const std::string unified = "8 1 0:9 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  const std::string usual = "7 1 0:9 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(find_cgroup2(other), "/mnt/cg");
  EXPECT_EQ(find_cgroup2(other + unified), "/sys/fs/cgroup/unified");
  EXPECT_EQ(find_cgroup2(other + unified + usual), "/sys/fs/cgroup");
  EXPECT_EQ(find_cgroup2(usual + unified + other), "/sys/fs/cgroup");
}

TEST(FindCgroup2, PrefersTheWholeTreeToABindMountOfAPart) {
  EXPECT_EQ(find_cgroup2("7 1 0:9 /machine.slice /run/part rw - cgroup2 cgroup2 rw\n"
                         "8 1 0:9 / /run/whole rw - cgroup2 cgroup2 rw\n"),
            "/run/whole");
}

TEST(FindCgroup2, ReadsOctalEscapes) {
  EXPECT_EQ(find_cgroup2("7 1 0:9 / /mnt/my\\040cgroups\\134x rw - cgroup2 cgroup2 rw\n"),
            "/mnt/my cgroups\\x");
  EXPECT_EQ(find_cgroup2("7 1 0:9 / /mnt/a\\04 rw - cgroup2 cgroup2 rw\n"), "/mnt/a\\04");
  EXPECT_EQ(find_cgroup2("7 1 0:9 / /mnt/a\\089 rw - cgroup2 cgroup2 rw\n"), "/mnt/a\\089");
}

TEST(FindCgroup2, SkipsAnyNumberOfOptionalFields) {
  EXPECT_EQ(find_cgroup2("7 1 0:9 / /a rw shared:1 master:2 propagate_from:3 unbindable - cgroup2 none rw\n"),
            "/a");
}

TEST(FindCgroup2, IgnoresWhatALaterMountCovers) {
  EXPECT_EQ(find_cgroup2("7 1 0:9 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
                         "8 7 0:5 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
                         "9 8 0:9 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"),
            "/sys/fs/cgroup/unified");
}

TEST(FindCgroup2, PassesOverBrokenLines) {
  EXPECT_EQ(find_cgroup2("\n7\n7 1 0:9 / /a rw\n7 1 0:9 / /a rw -\n7 1 0:9 / /b rw - cgroup2 none rw"), "/b");
}

}  // namespace
}  // namespace keplerd
