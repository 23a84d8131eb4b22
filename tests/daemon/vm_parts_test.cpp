// SPDX-License-Identifier: Apache-2.0
// The parts of a virtual machine: they add up to it, and include helpers outside its cgroup.
#include <gtest/gtest.h>

#include "daemon/vm_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class VmParts : public VmTest {};

TEST_F(VmParts, AreBrokenDownByLibvirtsCgroups) {
  const std::string libvirt = std::string(kScope) + "/libvirt";
  host.files.add_cgroup(libvirt);
  const auto part = [&](const char* const name, std::int64_t usage_usec) {
    host.files.add_cgroup(libvirt + "/" + name, usage_usec);
    host.files.set_cgroup_type(libvirt + "/" + name, "threaded");
  };
  part("vcpu0", 5'000'000);
  part("vcpu1", 0);
  part("emulator", 0);
  host.files.add_process(
      {.pid = 100, .comm = "qemu-system-x86", .cgroup = libvirt, .cmdline = qemu("web", kUuid)});
  host.begin();
  EXPECT_TRUE(host.vm(kUuid)->info->vcpus);
  const auto use_all = [&] {
    host.files.set_cgroup_usage(kScope, (group_used[kScope] += 50) * 10'000);
    host.files.set_cgroup_usage(libvirt, group_used[kScope] * 10'000);
    part("vcpu0", 5'000'000 + group_used[kScope] * 6'000);
    part("vcpu1", group_used[kScope] * 3'000);
    part("emulator", group_used[kScope] * 500);
  };
  use_all();
  step(20'000'000);
  EXPECT_EQ(breakdown(*host.vm(kUuid)),
            (Parts{{"emulator", 500'000}, {"vcpu0", 6'000'000}, {"vcpu1", 3'000'000}, {"other", 500'000}}));
  EXPECT_EQ(host.vm(kUuid)->info->vcpus, 2);
  use_all();
  step(20'000'000);
  EXPECT_EQ(
      breakdown(*host.vm(kUuid)),
      (Parts{{"emulator", 1'000'000}, {"vcpu0", 12'000'000}, {"vcpu1", 6'000'000}, {"other", 1'000'000}}));

  // They continue after a restart.
  const auto read = parse_state(format_state(host.meter().state()));
  ASSERT_TRUE(read.ok()) << read.error().message;
  host.begin({}, Ledger(*read, "another"), read->readings);
  use_all();
  step(20'000'000);
  EXPECT_EQ(
      breakdown(*host.vm(kUuid)),
      (Parts{{"emulator", 1'500'000}, {"vcpu0", 18'000'000}, {"vcpu1", 9'000'000}, {"other", 1'500'000}}));
}

TEST_F(VmParts, AreBrokenDownByThreadsWithoutSuchCgroups) {
  start_in_scope(100);
  const auto thread = [&](int tid, const char* const comm, std::int64_t nsec) {
    const std::string path = "proc/100/task/" + std::to_string(tid);
    host.files.write(path + "/comm", std::string(comm) + "\n");
    host.files.write(path + "/schedstat", std::to_string(nsec) + " 0 1\n");
  };
  thread(100, "qemu-system-x86", 0);
  thread(101, "CPU 0/KVM", 0);
  thread(102, "IO disk", 0);
  host.begin();
  use(100, kScope, 1);
  step(0);  // from here on the threads are known
  EXPECT_EQ(host.vm(kUuid)->info->vcpus, 1);
  thread(100, "qemu-system-x86", 100'000'000);
  thread(101, "CPU 0/KVM", 700'000'000);
  thread(102, "IO disk", 100'000'000);
  use(100, kScope, 100);
  step(20'000'000);
  EXPECT_EQ(breakdown(*host.vm(kUuid)), (Parts{{"emulator", 1'000'000},
                                               {"iothread:disk", 1'000'000},
                                               {"vcpu0", 7'000'000},
                                               {"other", 1'000'000}}));
}

TEST_F(VmParts, WithUnnamedThreadsAreNotBrokenDown) {
  start_in_scope(100);
  host.files.write("proc/100/task/100/comm", "qemu-system-x86\n");
  host.files.write("proc/100/task/100/schedstat", "0 0 1\n");
  host.begin();
  for (int i = 0; i < 3; ++i) {
    use(100, kScope, 10);
    step(2'000'000);
  }
  EXPECT_TRUE(host.vm(kUuid)->parts.empty());
  EXPECT_EQ(host.vm(kUuid)->info->vcpus, std::nullopt);
}

TEST_F(VmParts, AreIdentifiedByLibvirtsThreadIdsIfThreadsHaveNoNames) {
  start_in_scope(100);
  const auto thread = [&](int tid, std::int64_t nsec) {
    const std::string path = "proc/100/task/" + std::to_string(tid);
    host.files.write(path + "/comm", "qemu-system-x86\n");
    host.files.write(path + "/schedstat", std::to_string(nsec) + " 0 1\n");
  };
  for (const int tid : {100, 101, 102}) thread(tid, 0);
  write_status("web", kUuid, 100, "<vcpus><vcpu id='0' pid='101'/><vcpu id='1' pid='102'/></vcpus>");
  host.begin();
  use(100, kScope, 1);
  step(0);  // from here on the threads are known
  thread(100, 100'000'000);
  thread(101, 600'000'000);
  thread(102, 300'000'000);
  use(100, kScope, 100);
  step(20'000'000);
  EXPECT_EQ(breakdown(*host.vm(kUuid)),
            (Parts{{"emulator", 1'000'000}, {"vcpu0", 6'000'000}, {"vcpu1", 3'000'000}, {"other", 0}}));
}

constexpr char kSwtpm[] = "/system.slice/tpm.service";

std::string swtpm(std::string_view socket) {
  return command({"/usr/bin/swtpm", "socket", "--ctrl", "type=unixio,path=" + std::string(socket)});
}

TEST_F(VmParts, HelpersOutsideTheirScopeAreTheirsAndAPart) {
  host.files.add_cgroup(kSwtpm);
  host.files.add_process(
      {.pid = 50, .comm = "swtpm", .start = 90, .cgroup = kSwtpm, .cmdline = swtpm("/run/tpm.sock")});
  start_in_scope(100, command({"/usr/bin/qemu-system-x86_64", "-name", "web", "-uuid", kUuid, "-chardev",
                               "socket,id=chrtpm,path=/run/tpm.sock"}));
  const auto thread = [&](std::int64_t nsec) {
    host.files.write("proc/100/task/101/comm", "CPU 0/KVM\n");
    host.files.write("proc/100/task/101/schedstat", std::to_string(nsec) + " 0 1\n");
  };
  thread(0);
  host.begin();
  use(100, kScope, 1);
  step(0);
  thread(600'000'000);
  use(100, kScope, 60);
  use(50, kSwtpm, 40);
  step(20'000'000);
  EXPECT_EQ(energy(kUuid), Microjoules{10'000'000});
  EXPECT_EQ(host.vm(kUuid)->cpu, 1010ms);
  EXPECT_EQ(breakdown(*host.vm(kUuid)), (Parts{{"swtpm", 4'000'000}, {"vcpu0", 6'000'000}, {"other", 0}}));
  EXPECT_EQ(host.process(50)->vm->id, kUuid);
  // Units are unaffected: its own helper is in another one.
  EXPECT_EQ(host.unit(kScope).active, Microjoules{6'000'000});
  EXPECT_EQ(host.meter().report()->accounts.workloads, Microjoules{10'000'000});
}

TEST_F(VmParts, HelpersInTheirScopeAreCountedOnce) {
  start_in_scope(100, command({"/usr/bin/qemu-system-x86_64", "-uuid", kUuid, "-chardev",
                               "socket,id=chrtpm,path=/run/tpm.sock"}));
  host.files.add_process({.pid = 50, .comm = "swtpm", .cgroup = kScope, .cmdline = swtpm("/run/tpm.sock")});
  host.begin();
  use(100, kScope, 60);
  use(50, kScope, 40);
  step(20'000'000);
  EXPECT_EQ(energy(kUuid), Microjoules{10'000'000});
}

TEST_F(VmParts, HelpersWithoutAMachineAreNotCounted) {
  host.files.add_cgroup(kSwtpm);
  host.files.add_process(
      {.pid = 50, .comm = "swtpm", .cgroup = kSwtpm, .cmdline = swtpm("/run/another.sock")});
  start_in_scope(100);
  host.begin();
  use(50, kSwtpm, 40);
  step(20'000'000);
  EXPECT_EQ(energy(kUuid), Microjoules{0});
  EXPECT_EQ(host.process(50)->vm, nullptr);
}

TEST_F(VmParts, AHelperThatStaysIsTheNextOnes) {
  host.files.add_cgroup(kSwtpm);
  host.files.add_process({.pid = 50, .comm = "swtpm", .cgroup = kSwtpm, .cmdline = swtpm("/run/tpm.sock")});
  const auto with_socket = [](std::string_view uuid) {
    return command({"/usr/bin/qemu-system-x86_64", "-uuid", uuid, "-chardev", "socket,path=/run/tpm.sock"});
  };
  start_in_scope(100, with_socket(kUuid));
  host.begin();
  host.files.remove_process(100);
  step(0);
  start_in_scope(200, with_socket(kOther), 900);
  use(50, kSwtpm, 40);
  step(20'000'000);
  EXPECT_EQ(energy(kOther), Microjoules{10'000'000});
  EXPECT_EQ(energy(kUuid), Microjoules{0});
}

TEST_F(VmParts, HaltPollingIsReportedIfTheKernelProvidesIt) {
  start_in_scope(100);
  host.begin();
  EXPECT_EQ(host.vm(kUuid)->halt_polling, std::nullopt);
  host.files.write("sys/kernel/debug/kvm/100-11/halt_poll_success_ns", "2000\n");
  host.files.write("sys/kernel/debug/kvm/100-11/halt_poll_fail_ns", "500\n");
  host.step(10s);
  EXPECT_EQ(host.vm(kUuid)->halt_polling, 2500ns);
}

}  // namespace
}  // namespace keplerd
