// SPDX-License-Identifier: Apache-2.0
// Virtual machines: each is found, named and counted completely.
#include <gtest/gtest.h>

#include "daemon/vm_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class Vms : public VmTest {};

TEST_F(Vms, AreListedWithTheDetailsOfTheirCommandLine) {
  start_in_scope(100);
  host.begin();
  ASSERT_NE(host.vm(kUuid), nullptr);
  const VmInfo& info = *host.vm(kUuid)->info;
  EXPECT_EQ(info.name, "web");
  EXPECT_EQ(info.uuid, kUuid);
  EXPECT_EQ(info.hypervisor, "kvm");
  EXPECT_EQ(info.pid, 100);
  EXPECT_EQ(info.unit, kScope);
  EXPECT_EQ(info.container, std::nullopt);
}

TEST_F(Vms, TheirScopeCountsWholeWithAllThatHelpsToRunThem) {
  start_in_scope(100);
  host.files.add_process({.pid = 101, .comm = "virtiofsd", .cgroup = kScope});
  host.files.add_process({.pid = 102, .comm = "vhost-100", .cgroup = kScope, .kernel_thread = true});
  host.begin();
  for (const pid_t pid : {100, 101, 102}) use(pid, kScope, 20);
  use(100, kScope, 0);
  group_used[kScope] += 5;  // a short-lived process
  use(100, kScope, 0);
  step(10'000'000);
  EXPECT_EQ(energy(kUuid), Microjoules{5'000'000});  // all the active energy
  EXPECT_EQ(energy(kUuid), host.unit(kScope).active);
  EXPECT_EQ(host.vm(kUuid)->cpu, 650ms);
  EXPECT_EQ(host.vm(kUuid)->power, (Microwatts{5'000'000}));
  for (const pid_t pid : {100, 101, 102}) {
    ASSERT_NE(host.process(pid)->vm, nullptr);
    EXPECT_EQ(host.process(pid)->vm->id, kUuid);
  }
}

TEST_F(Vms, InAnyOtherCgroupTheirProcessCountsAlone) {
  const std::string session = "/user.slice/user-1000.slice/session-3.scope";
  host.files.add_cgroup(session);
  host.files.add_process(
      {.pid = 100, .comm = "qemu-system-x86", .cgroup = session, .cmdline = qemu("test", kUuid)});
  host.files.add_process({.pid = 101, .comm = "make", .cgroup = session});
  host.begin();
  use(100, session, 30);
  use(101, session, 10);
  step(8'000'000);
  EXPECT_EQ(energy(kUuid), Microjoules{3'000'000});
  EXPECT_EQ(host.vm(kUuid)->info->unit, session);
  EXPECT_EQ(host.process(100)->vm->id, kUuid);
  EXPECT_EQ(host.process(101)->vm, nullptr);
}

TEST_F(Vms, WithoutCgroupsTheirProcessCounts) {
  host.files.add_process({.pid = 100, .comm = "qemu-system-x86", .cmdline = qemu("test", kUuid)});
  host.begin();
  host.files.set_process_time(100, 40);
  step(8'000'000);
  EXPECT_EQ(energy(kUuid), Microjoules{4'000'000});
  EXPECT_EQ(host.vm(kUuid)->info->unit, std::nullopt);
}

TEST_F(Vms, AScopeInsideAMachinesScopeIsCountedOnce) {
  const std::string inner = std::string(kScope) + kScope;
  start_in_scope(100);
  host.files.add_cgroup(inner);
  host.files.add_process({.pid = 101, .cgroup = inner});
  host.begin();
  for (int i = 0; i < 5; ++i) {
    host.files.set_process_time(101, used[101] += 50);
    for (const std::string& path : {std::string(kScope), std::string(kScope) + "/machine.slice", inner})
      host.files.set_cgroup_usage(path, used[101] * 10'000);
    step(2'000'000);
  }
  EXPECT_EQ(host.meter().report()->vms.size(), 1u);
  EXPECT_EQ(energy(kUuid), Microjoules{5'000'000});
}

TEST_F(Vms, WithoutNameAndUuidEachIsItsOwn) {
  for (const pid_t pid : {100, 101}) {
    host.files.add_process({.pid = pid,
                            .comm = "qemu-system-x86",
                            .start = 70,
                            .cmdline = command({"qemu-system-x86_64", "-m", "512"})});
  }
  host.begin();
  for (const char* const id : {"100.70", "101.70"}) {
    ASSERT_NE(host.vm(id), nullptr) << id;
    EXPECT_EQ(host.vm(id)->info->name, id);
    EXPECT_EQ(host.vm(id)->info->uuid, std::nullopt);
  }
}

TEST_F(Vms, OfTwoWithOneUuidTheFirstHasIt) {
  for (const pid_t pid : {100, 101})
    host.files.add_process(
        {.pid = pid, .comm = "qemu-system-x86", .start = 70, .cmdline = qemu("clone", kUuid)});
  host.begin();
  EXPECT_EQ(host.meter().report()->vms.size(), 2u);
  EXPECT_EQ(host.vm(kUuid)->info->pid, 100);
  ASSERT_NE(host.vm("101.70"), nullptr);
  EXPECT_EQ(host.vm("101.70")->info->uuid, kUuid);
}

TEST_F(Vms, InAContainerAreBothAndCountedOnce) {
  const std::string id(64, 'a');
  const std::string scope = "/system.slice/docker-" + id + ".scope";
  host.files.add_cgroup(scope);
  host.files.add_process(
      {.pid = 100, .comm = "qemu-system-x86", .cgroup = scope, .cmdline = qemu("inner", kUuid)});
  host.files.add_process({.pid = 101, .comm = "sh", .cgroup = scope});
  host.begin();
  use(100, scope, 30);
  use(101, scope, 10);
  step(8'000'000);
  const std::string claimed = id + "/" + kUuid;
  ASSERT_NE(host.vm(claimed), nullptr);
  EXPECT_EQ(energy(claimed), Microjoules{3'000'000});
  EXPECT_EQ(host.vm(claimed)->info->container, id);
  EXPECT_EQ(host.vm(claimed)->info->uuid, kUuid);
  EXPECT_EQ(host.container(id)->active, Microjoules{4'000'000});
  EXPECT_EQ(host.process(100)->container->id, id);
  EXPECT_EQ(host.meter().report()->accounts.workloads, Microjoules{4'000'000});
}

TEST_F(Vms, AnUnidentifiedScopeIsListedByItsOldestProcess) {
  host.files.add_cgroup(kScope);
  host.files.add_process({.pid = 101, .comm = "helper", .start = 90, .cgroup = kScope});
  host.files.add_process({.pid = 102, .comm = "helper", .start = 80, .cgroup = kScope});
  host.begin();
  for (int i = 0; i < 4; ++i) {
    use(101, kScope, 10);
    step(2'000'000);
  }
  ASSERT_NE(host.vm("102.80"), nullptr);
  EXPECT_EQ(host.vm("102.80")->info->name, "web");
  EXPECT_EQ(host.vm("102.80")->info->hypervisor, "kvm");
  EXPECT_EQ(energy("102.80"), Microjoules{4'000'000});

  // Its hypervisor is found later.
  start_in_scope(100);
  step(0);
  use(100, kScope, 10);
  step(2'000'000);
  EXPECT_FALSE(host.vm("102.80")->running);
  EXPECT_EQ(energy(kUuid), Microjoules{1'000'000});
}

TEST_F(Vms, OneThatWasGuessedIsNamedByItsHypervisorWhenThatIsKnown) {
  const std::string script = command({"/bin/sh", "/usr/local/bin/start-guest"});
  host.files.add_cgroup(kScope);
  host.files.add_process(
      {.pid = 100, .comm = "start-guest", .start = 70, .cgroup = kScope, .cmdline = script});
  host.begin();
  for (int i = 0; i < 4; ++i) step(0);
  EXPECT_NE(host.vm("100.70"), nullptr);
  start_in_scope(100, qemu("web", kUuid), 70);
  step(0);
  ASSERT_NE(host.vm(kUuid), nullptr);
  EXPECT_TRUE(host.vm(kUuid)->running);
  EXPECT_FALSE(host.vm("100.70")->running);
  EXPECT_EQ(host.process(100)->vm->id, kUuid);
}

TEST_F(Vms, AHypervisorThatIsMovedIntoItsScopeIsCountedByIt) {
  host.files.add_cgroup("/system.slice/libvirtd.service");
  host.files.add_process({.pid = 100,
                          .comm = "qemu-system-x86",
                          .cgroup = "/system.slice/libvirtd.service",
                          .cmdline = qemu("web", kUuid)});
  host.begin();
  host.files.add_cgroup(kScope);
  host.files.move_process(100, kScope);
  host.files.add_process({.pid = 101, .comm = "swtpm", .cgroup = kScope});
  use(100, kScope, 20);
  use(101, kScope, 20);
  step(8'000'000);
  EXPECT_EQ(energy(kUuid), Microjoules{4'000'000});
  EXPECT_EQ(host.vm(kUuid)->info->unit, kScope);
}

TEST_F(Vms, AreNotWhateverHasQemuInItsArguments) {
  host.files.add_process(
      {.pid = 100, .comm = "grep", .cmdline = command({"grep", "/usr/bin/qemu-system-x86_64"})});
  host.files.add_process({.pid = 101,
                          .comm = "qemu-system-x86",
                          .cmdline = command({"qemu-system-x86_64", "-machine", "none", "-S"})});
  host.begin();
  EXPECT_TRUE(host.meter().report()->vms.empty());
}

TEST_F(Vms, AScriptThatStartsOneIsFoundWhenItHas) {
  const std::string script = command({"/bin/sh", "/usr/local/bin/qemu-system-x86_64", "-name", "web"});
  host.files.add_process({.pid = 100, .comm = "qemu-system-x86", .start = 70, .cmdline = script});
  host.begin();
  EXPECT_TRUE(host.meter().report()->vms.empty());
  host.files.add_process(
      {.pid = 100, .comm = "qemu-system-x86", .start = 70, .utime = 1, .cmdline = qemu("web", kUuid)});
  step(0);
  EXPECT_NE(host.vm(kUuid), nullptr);
}

}  // namespace
}  // namespace keplerd
