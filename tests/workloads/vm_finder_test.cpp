// SPDX-License-Identifier: Apache-2.0
#include "workloads/vm_finder.h"

#include <initializer_list>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/fake_host.h"

namespace keplerd {
namespace {

std::string command(std::initializer_list<std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) (text += word) += '\0';
  return text;
}

class Finder : public testing::Test {
 protected:
  // A process that runs `line`, as seen by the next check.
  void run(std::int32_t pid, std::string_view comm, const std::string& line, bool fresh = true) {
    files.write("proc/" + std::to_string(pid) + "/cmdline", line);
    usage.processes.push_back({.id = {pid, 7}, .comm = comm, .fresh = fresh, .user = user});
  }
  std::vector<FoundVm> scan() { return scan_all().vms; }
  FoundVms scan_all() {
    auto found = finder.scan(usage);
    for (ProcessUsage& process : usage.processes) process.fresh = false;
    return found;
  }

  const std::uint32_t user = ::geteuid();  // the owner of all files
  FakeHost files;
  HostRoot host = files.open();
  VmFinder finder{host};
  UsageSample usage;
};

TEST_F(Finder, FindsAMachineOnceAndSaysWhichProcessRunsIt) {
  run(10, "bash", command({"bash"}));
  run(11, "qemu-system-x86", command({"qemu-system-x86_64", "-name", "web"}));
  const auto found = scan();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].process, 1u);
  EXPECT_EQ(found[0].command.name, "web");
  EXPECT_TRUE(scan().empty());
}

TEST_F(Finder, LooksAgainWhenTheCommChanges) {
  run(10, "rpc-libvirtd", command({"/usr/sbin/libvirtd"}));
  EXPECT_TRUE(scan().empty());
  usage.processes.clear();
  run(10, "qemu-system-x86", command({"qemu-system-x86_64", "-name", "web"}));
  EXPECT_EQ(scan().size(), 1u);
}

TEST_F(Finder, RetriesProcessesNamedLikeAHypervisorForAWhile) {
  run(10, "qemu-system-x86", command({"/bin/sh", "/usr/bin/qemu-system-x86_64"}));
  EXPECT_TRUE(scan().empty());
  run(10, "qemu-system-x86", command({"/usr/libexec/qemu-kvm", "-name", "web"}), false);
  usage.processes.erase(usage.processes.begin());
  EXPECT_EQ(scan().size(), 1u);
}

TEST_F(Finder, GivesUpAfterTenLooks) {
  run(10, "qemu-system-x86", command({"/bin/sh", "/usr/bin/qemu-system-x86_64"}));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(scan().empty());
  run(10, "qemu-system-x86", command({"/usr/libexec/qemu-kvm", "-name", "web"}), false);
  usage.processes.erase(usage.processes.begin());
  EXPECT_TRUE(scan().empty());
}

TEST_F(Finder, DoesNotRetryOtherProcesses) {
  run(10, "bash", command({"bash"}));
  EXPECT_TRUE(scan().empty());
  files.write("proc/10/cmdline", command({"qemu-system-x86_64"}));
  EXPECT_TRUE(scan().empty());
}

TEST_F(Finder, ReadsACommandLineOfWhateverLength) {
  std::string line = command({"qemu-system-x86_64"});
  for (int i = 0; i < 2000; ++i) line += command({"-device", "virtio-net"});
  line += command({"-name", "late"});
  run(10, "qemu-system-x86", line);
  const auto found = scan();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].command.name, "late");
}

TEST_F(Finder, ReadsTheProgramIfPermitted) {
  run(10, "qemu-system-x86", command({"my-guest", "-name", "web"}));
  EXPECT_TRUE(scan().empty());
  files.remove("proc/10");
  run(11, "qemu-system-x86", command({"my-guest", "-name", "web"}));
  files.link("proc/11/exe", "/usr/bin/qemu-system-x86_64");
  EXPECT_EQ(scan().size(), 1u);
}

TEST_F(Finder, FindsHelpers) {
  run(10, "swtpm", command({"/usr/bin/swtpm", "socket", "--ctrl", "type=unixio,path=/run/tpm.sock"}));
  const FoundVms found = scan_all();
  EXPECT_TRUE(found.vms.empty());
  ASSERT_EQ(found.helpers.size(), 1u);
  EXPECT_EQ(found.helpers[0].process, 0u);
  EXPECT_EQ(found.helpers[0].command.program, "swtpm");
  EXPECT_TRUE(scan_all().helpers.empty());
}

// It may have become another user's program in between: then its arguments are nobody's claim.
TEST_F(Finder, WhatHasAnotherUserNowIsFoundWhenThatIsKnown) {
  run(10, "qemu-system-x86", command({"qemu-system-x86_64", "-name", "web"}));
  run(11, "swtpm", command({"swtpm", "socket", "--ctrl", "type=unixio,path=/run/tpm.sock"}));
  for (ProcessUsage& process : usage.processes) process.user = user + 1;
  for (int i = 0; i < 20; ++i) {
    const FoundVms found = scan_all();
    EXPECT_TRUE(found.vms.empty());
    EXPECT_TRUE(found.helpers.empty());
  }
  for (ProcessUsage& process : usage.processes) process.user = user;
  const FoundVms found = scan_all();
  EXPECT_EQ(found.vms.size(), 1u);
  EXPECT_EQ(found.helpers.size(), 1u);
  EXPECT_TRUE(scan_all().helpers.empty());
}

TEST_F(Finder, WhatASetUserIdProgramHasBecomeIsNotRoots) {
  if (user != 0) GTEST_SKIP() << "only root's processes have a status to read";
  run(10, "qemu-system-x86", command({"qemu-system-x86_64", "-name", "web"}));
  files.write("proc/10/status", "Uid:\t1000\t0\t0\t0\n");
  EXPECT_TRUE(scan().empty());
  usage.processes[0].real_user = 1000;
  EXPECT_EQ(scan().size(), 1u);
}

TEST_F(Finder, KernelThreadsAndThoseThatAreGoneAreNone) {
  usage.processes.push_back({.id = {20, 7}, .comm = "kvm", .fresh = true, .kernel_thread = true});
  usage.processes.push_back({.id = {21, 7}, .comm = "kvm", .fresh = true});
  EXPECT_TRUE(scan().empty());
}

TEST_F(Finder, ForgetsTheDoubtfulOnesThatEnd) {
  run(10, "kvm", command({"/bin/sh", "kvm"}));
  EXPECT_TRUE(scan().empty());
  usage.processes.clear();
  usage.ended.push_back({10, 7});
  EXPECT_TRUE(scan().empty());
  usage.ended.clear();
  run(10, "kvm", command({"kvm", "-name", "web"}), false);
  EXPECT_TRUE(scan().empty());
}

}  // namespace
}  // namespace keplerd
