// SPDX-License-Identifier: Apache-2.0
#include "host/host_root.h"

#include <cerrno>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/fake_host.h"

namespace keplerd {
namespace {

TEST(HostRoot, FailsWithoutSysfsOrProcfs) {
  const FakeHost fake;
  auto paths = fake.paths();
  paths.sysfs = "/nowhere/sys";
  EXPECT_EQ(HostRoot::open(paths).error().message, "/nowhere/sys: No such file or directory");
  paths = fake.paths();
  paths.procfs = "/nowhere/proc";
  EXPECT_EQ(HostRoot::open(paths).error().message, "/nowhere/proc: No such file or directory");
}

TEST(HostRoot, FailsWhereACgroup2RootThatWasNamedIsMissing) {
  const FakeHost fake;
  auto paths = fake.paths();
  paths.cgroupfs = "/nowhere/cgroup";
  const auto host = HostRoot::open(paths);
  ASSERT_FALSE(host);
  EXPECT_EQ(host.error().code, ENOENT);
}

TEST(HostRoot, FailsWhereARootDirectoryThatWasNamedIsMissing) {
  const FakeHost fake;
  auto paths = fake.paths();
  paths.root = "/nowhere/root";
  EXPECT_EQ(HostRoot::open(paths).error().message, "/nowhere/root: No such file or directory");
}

TEST(HostRoot, OpensTheRootDirectory) {
  FakeHost fake;
  fake.write("root/etc/hostname", "pve1\n");
  EXPECT_EQ(*read_text(fake.open().root(), "etc/hostname", 64), "pve1\n");
  auto paths = fake.paths();
  paths.root = HostPaths().root;
  EXPECT_TRUE(list_directory(HostRoot::open(paths)->root(), "proc"));
}

TEST(HostRoot, NeedsNoCgroup2) {
  const FakeHost fake;
  auto paths = fake.paths();
  paths.cgroupfs.reset();
  const auto host = HostRoot::open(paths);
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_EQ(host->cgroupfs(), std::nullopt);
  EXPECT_EQ(host->paths().cgroupfs, std::nullopt);
}

TEST(HostRoot, FindsCgroup2InItsOwnProcfs) {
  FakeHost fake;
  auto paths = fake.paths();
  const auto place = *paths.cgroupfs;
  paths.cgroupfs.reset();
  fake.write("proc/self/mountinfo", "7 1 0:9 / " + place + " rw - cgroup2 cgroup2 rw\n");
  const auto host = HostRoot::open(paths);
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_EQ(host->paths().cgroupfs, place);
  EXPECT_TRUE(list_directory(*host->cgroupfs(), "."));
}

TEST(HostRoot, DoesWithoutACgroup2MountThatCannotBeOpened) {
  FakeHost fake;
  auto paths = fake.paths();
  paths.cgroupfs.reset();
  fake.write("proc/self/mountinfo", "7 1 0:9 / /nowhere/cgroup rw - cgroup2 cgroup2 rw\n");
  const auto host = HostRoot::open(paths);
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_EQ(host->cgroupfs(), std::nullopt);
  EXPECT_EQ(host->paths().cgroupfs, std::nullopt);
}

TEST(HostRoot, KnowsItsOwnProcfsFromAnother) {
  const FakeHost fake;
  auto paths = fake.paths();
  EXPECT_FALSE(HostRoot::open(paths)->has_own_procfs());
  paths.procfs = "/proc";
  EXPECT_TRUE(HostRoot::open(paths)->has_own_procfs());
}

TEST(HostRoot, TakesNoCopyOfAProcfsForItsOwn) {
  const FakeHost fake;
  ASSERT_EQ(::symlink(std::to_string(::getpid()).c_str(), (fake.paths().procfs + "/self").c_str()), 0);
  EXPECT_FALSE(fake.open().has_own_procfs());
}

}  // namespace
}  // namespace keplerd
