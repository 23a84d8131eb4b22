// SPDX-License-Identifier: Apache-2.0
// A virtual machine as it starts, changes and ends: one account for as long as its UUID exists.
#include <gtest/gtest.h>

#include "daemon/vm_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class VmLife : public VmTest {
 protected:
  // A libvirt VM is running, and keplerd-libvirt is connected.
  void begin_with_libvirt() {
    start_in_scope(100);
    write_status("web", kUuid, 100);
    host.begin();
    host.meter().set_libvirt_connected(true);
  }
};

TEST_F(VmLife, WhatTheirScopeDrewBeforeTheyWereKnownIsTheirs) {
  host.begin();
  host.files.add_cgroup(kScope);
  host.files.add_process({.pid = 100, .comm = "rpc-libvirtd", .cgroup = kScope});
  use(100, kScope, 10);
  step(2'000'000);
  EXPECT_TRUE(host.meter().report()->vms.empty());
  host.files.add_process(
      {.pid = 100, .comm = "qemu-system-x86", .utime = 10, .cgroup = kScope, .cmdline = qemu("web", kUuid)});
  use(100, kScope, 10);
  step(2'000'000);
  EXPECT_EQ(energy(kUuid), Microjoules{2'000'000});
  EXPECT_EQ(energy(kUuid), host.unit(kScope).active);
}

TEST_F(VmLife, GoOnUnderTheirUuidWhenStartedAgain) {
  start_in_scope(100);
  host.begin();
  use(100, kScope, 50);
  step(10'000'000);
  end_in_scope(100);
  step(0);
  ASSERT_NE(host.vm(kUuid), nullptr);
  EXPECT_FALSE(host.vm(kUuid)->running);
  EXPECT_EQ(host.vm(kUuid)->info->name, "web");

  const std::string again = "/machine.slice/machine-qemu\\x2d2\\x2drenamed.scope";
  host.files.add_cgroup(again);
  host.files.add_process({.pid = 200,
                          .comm = "qemu-system-x86",
                          .start = 900,
                          .cgroup = again,
                          .cmdline = qemu("renamed", kUuid)});
  step(0);
  use(200, again, 50);
  step(10'000'000);
  EXPECT_TRUE(host.vm(kUuid)->running);
  EXPECT_EQ(energy(kUuid), Microjoules{10'000'000});
  EXPECT_EQ(host.vm(kUuid)->info->name, "renamed");
  EXPECT_EQ(host.vm(kUuid)->info->pid, 200);
}

TEST_F(VmLife, GoOnWithinOneWindow) {
  start_in_scope(100);
  host.begin();
  use(100, kScope, 50);
  step(10'000'000);
  host.files.remove_process(100);
  start_in_scope(200, qemu("web", kUuid), 900);
  use(200, kScope, 0);
  step(0);
  EXPECT_EQ(host.meter().report()->vms.size(), 1u);
  EXPECT_TRUE(host.vm(kUuid)->running);
  EXPECT_EQ(host.vm(kUuid)->info->pid, 200);
  EXPECT_EQ(energy(kUuid), Microjoules{5'000'000});
}

TEST_F(VmLife, AForkOfTheirHypervisorIsTheSameMachine) {
  const std::string line = command({"qemu-system-x86_64", "-daemonize", "-name", "d"});
  host.files.add_process({.pid = 100, .comm = "qemu-system-x86", .start = 70, .cmdline = line});
  host.files.add_process({.pid = 101, .comm = "qemu-system-x86", .ppid = 100, .start = 71, .cmdline = line});
  host.begin();
  EXPECT_EQ(host.meter().report()->vms.size(), 1u);
  host.files.remove_process(100);
  step(0);
  ASSERT_NE(host.vm("100.70"), nullptr);
  EXPECT_TRUE(host.vm("100.70")->running);
  host.files.set_process_time(101, 50);
  step(2'000'000);
  EXPECT_EQ(energy("100.70"), Microjoules{1'000'000});
}

TEST_F(VmLife, EndedOnesGoAfterTheRetentionAndStayInTheirUnits) {
  start_in_scope(100);
  host.begin();
  host.meter().set_limits({.retention = 60s});
  use(100, kScope, 50);
  step(10'000'000);
  end_in_scope(100);
  step(0);
  host.step(59s);
  EXPECT_NE(host.vm(kUuid), nullptr);
  host.step(2s);
  EXPECT_EQ(host.vm(kUuid), nullptr);
}

TEST_F(VmLife, OfEndedOnesThoseWithTheMostEnergyAreKept) {
  host.files.add_process({.pid = 100, .comm = "qemu-system-x86", .cmdline = qemu("a", kUuid)});
  host.files.add_process({.pid = 101, .comm = "qemu-system-x86", .cmdline = qemu("b", kOther)});
  host.begin();
  host.meter().set_limits({.max = 1});
  host.files.set_process_time(100, 10);
  host.files.set_process_time(101, 30);
  step(8'000'000);
  for (const pid_t pid : {100, 101}) host.files.remove_process(pid);
  step(0);
  EXPECT_EQ(host.vm(kUuid), nullptr);
  EXPECT_EQ(energy(kOther), Microjoules{3'000'000});
}

TEST_F(VmLife, GoOnAfterARestartOfKeplerd) {
  start_in_scope(100);
  host.begin();
  use(100, kScope, 50);
  step(10'000'000);
  const LedgerState state = host.meter().state();
  const auto read = parse_state(format_state(state));
  ASSERT_TRUE(read.ok()) << read.error().message;
  host.begin({}, Ledger(*read, "another"), read->readings);
  EXPECT_EQ(energy(kUuid), Microjoules{5'000'000});
  EXPECT_TRUE(host.vm(kUuid)->running);
  use(100, kScope, 50);
  step(10'000'000);
  EXPECT_EQ(energy(kUuid), Microjoules{10'000'000});
  EXPECT_EQ(host.meter().report()->vms.size(), 1u);
}

TEST_F(VmLife, LibvirtProvidesTitleStateVcpusAndMetadata) {
  start_in_scope(100);
  write_status("web", kUuid, 100, "",
               "<title>Shop</title><vcpu>4</vcpu><metadata><nova:instance "
               "xmlns:nova='http://openstack.org/xmlns/libvirt/nova/1.1'><nova:name>shop-1</nova:name>"
               "</nova:instance></metadata>");
  host.begin();
  const VmInfo& info = *host.vm(kUuid)->info;
  EXPECT_EQ(info.title, "Shop");
  EXPECT_EQ(info.guest_state, "running");
  EXPECT_EQ(info.vcpus, 4);
  EXPECT_EQ(info.metadata, (VmMetadata{{"openstack.name", "shop-1"}}));
}

TEST_F(VmLife, OpenStacksNameIsTheTitleWhereThereIsNoOther) {
  start_in_scope(100);
  write_status("instance-0000002a", kUuid, 100, "",
               "<metadata><nova:instance xmlns:nova='http://openstack.org/xmlns/libvirt/nova/1.1'>"
               "<nova:name>shop-1</nova:name></nova:instance></metadata>");
  host.begin();
  EXPECT_EQ(host.vm(kUuid)->info->name, "instance-0000002a");
  EXPECT_EQ(host.vm(kUuid)->info->title, "shop-1");
}

TEST_F(VmLife, LibvirtsNameIsNewerThanThatOfTheCommandLine) {
  start_in_scope(100);
  host.begin();
  write_status("renamed", kUuid, 100);
  host.step(1s);
  EXPECT_EQ(host.vm(kUuid)->info->name, "renamed");
}

TEST_F(VmLife, AStatusOfAnotherProcessIsStale) {
  start_in_scope(100);
  write_status("stale", kUuid, 99);
  host.begin();
  EXPECT_EQ(host.vm(kUuid)->info->name, "web");
  EXPECT_EQ(host.vm(kUuid)->info->guest_state, "");
}

TEST_F(VmLife, LibvirtsDetailsAreKeptWhenLibvirtAndTheMachineHaveEnded) {
  start_in_scope(100);
  write_status("web", kUuid, 100, "", "<title>Shop</title><vcpu>4</vcpu>");
  host.begin();
  host.files.remove("root/run/libvirt/qemu/web.xml");
  end_in_scope(100);
  host.step(1s);
  EXPECT_FALSE(host.vm(kUuid)->running);
  EXPECT_EQ(host.vm(kUuid)->info->title, "Shop");
  EXPECT_EQ(host.vm(kUuid)->info->vcpus, 4);
  EXPECT_EQ(host.vm(kUuid)->info->guest_state, "");
  const auto read = parse_state(format_state(host.meter().state()));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->vms.at(0).info.title, "Shop");
  EXPECT_EQ(read->vms.at(0).info.vcpus, 4);
}

TEST_F(VmLife, OneThatRunsWhenKeplerdStartsHasNotStartedNow) {
  start_in_scope(100);
  host.begin();
  EXPECT_EQ(events(), Events{});
}

TEST_F(VmLife, StartAndEndAreEventsInTheirOrder) {
  host.begin();
  start_in_scope(100);
  step(0);
  end_in_scope(100);
  step(0);
  EXPECT_EQ(events(), (Events{"1 web started", "2 web stopped"}));
}

TEST_F(VmLife, ARestartWithinOneWindowIsBoth) {
  start_in_scope(100);
  host.begin();
  host.files.remove_process(100);
  start_in_scope(200, qemu("web", kUuid), 900);
  step(0);
  EXPECT_EQ(events(), (Events{"1 web stopped", "2 web started"}));
}

TEST_F(VmLife, OneThatEndedWhileKeplerdWasAwayHasStopped) {
  start_in_scope(100);
  host.begin();
  const auto read = parse_state(format_state(host.meter().state()));
  end_in_scope(100);
  host.begin({}, Ledger(*read, "another"), read->readings);
  EXPECT_EQ(events(), (Events{"1 web stopped"}));
}

TEST_F(VmLife, GuestStatesOfLibvirtBecomeEventsWithTheirReason) {
  const auto status = [&](const char* state, const char* reason) {
    write_status("web", kUuid, 100, "", "", std::string("state='") + state + "' reason='" + reason + "'");
    host.step(1s);
  };
  host.begin();
  start_in_scope(100);
  status("paused", "starting up");
  status("running", "booted");  // the state in which each starts
  status("paused", "user");
  status("running", "unpaused");
  status("paused", "migration");
  status("running", "migrated");
  EXPECT_EQ(events(), (Events{"1 web started", "2 web paused: user", "3 web resumed: unpaused",
                              "4 web paused: migration", "5 web resumed: migrated"}));
}

TEST_F(VmLife, OneThatWasRestoredAndRunsByTheFirstSampleHasResumedToo) {
  const auto status = [&](const char* reason) {
    write_status("web", kUuid, 100, "", "", std::string("state='running' reason='") + reason + "'");
  };
  status("restored");
  start_in_scope(100);
  host.begin();
  step(0);
  EXPECT_EQ(events(), Events{});  // both before keplerd started
  end_in_scope(100);
  step(0);
  start_in_scope(100);
  step(0);
  end_in_scope(100);
  step(0);
  status("booted");
  start_in_scope(100);
  step(0);
  EXPECT_EQ(events(), (Events{"1 web stopped", "2 web started", "3 web resumed: restored", "4 web stopped",
                              "5 web started"}));
}

LibvirtUpdate ended(const char* reason) {
  return {.kind = LibvirtUpdate::Kind::kEnded, .driver = "qemu", .uuid = kUuid, .reason = reason};
}

TEST_F(VmLife, AnEndIsReportedWithTheReasonOfLibvirtsHelper) {
  begin_with_libvirt();
  host.meter().learn(ended("migrated"));
  end_in_scope(100);
  step(0);
  EXPECT_EQ(events(), (Events{"1 web stopped: migrated"}));
}

TEST_F(VmLife, OneThatMigratesAwayAndComesBackHasOneCounter) {
  const std::string scope = "/machine.slice/machine-qemu\\x2d7\\x2dweb.scope";
  begin_with_libvirt();
  use(100, kScope, 50);
  step(10'000'000);
  EXPECT_EQ(energy(kUuid), Microjoules{5'000'000});
  host.meter().learn(ended("migrated"));
  host.files.remove("root/run/libvirt/qemu/web.xml");
  end_in_scope(100);
  step(0);
  EXPECT_FALSE(host.vm(kUuid)->running);

  host.files.add_cgroup(scope);
  host.files.add_process({.pid = 300,
                          .comm = "qemu-system-x86",
                          .start = 5000,
                          .cgroup = scope,
                          .cmdline = qemu("web", kUuid) + command({"-incoming", "defer"})});
  write_status("web", kUuid, 300, "", "", "state='paused' reason='migration'");
  step(0);
  write_status("web", kUuid, 300, "", "", "state='running' reason='migrated'");
  use(300, scope, 50);
  step(10'000'000);
  EXPECT_EQ(host.meter().report()->vms.size(), 1u);
  EXPECT_EQ(host.vm(kUuid)->info->unit, scope);
  EXPECT_EQ(energy(kUuid), Microjoules{10'000'000});
  EXPECT_EQ(events(), (Events{"1 web stopped: migrated", "2 web started", "3 web resumed: migrated"}));
}

TEST_F(VmLife, AReasonMayComeAWindowLater) {
  begin_with_libvirt();
  end_in_scope(100);
  step(0);
  EXPECT_FALSE(host.vm(kUuid)->running);
  EXPECT_EQ(events(), Events{});
  host.meter().learn(ended("saved"));
  step(0);
  EXPECT_EQ(events(), (Events{"1 web stopped: saved"}));
}

TEST_F(VmLife, TheWaitForAReasonIsBounded) {
  begin_with_libvirt();
  end_in_scope(100);
  step(0);
  step(0);
  EXPECT_EQ(events(), (Events{"1 web stopped"}));
}

TEST_F(VmLife, AnXenGuestIsNamedByItsNumber) {
  host.files.add_process({.pid = 100,
                          .comm = "qemu-system-i38",
                          .start = 70,
                          .cmdline = command({"/usr/bin/qemu-system-i386", "-xen-domid", "7"})});
  host.begin();
  EXPECT_EQ(host.meter().libvirt_drivers(), (std::vector<std::string>{"xen"}));
  host.meter().set_libvirt_connected(true);
  host.meter().learn({.kind = LibvirtUpdate::Kind::kDomain,
                      .driver = "xen",
                      .id = 7,
                      .uuid = kUuid,
                      .name = "dom-web",
                      .title = "Shop",
                      .state = "paused"});
  host.step(1s);
  EXPECT_EQ(host.vm("100.70")->info->name, "dom-web");
  EXPECT_EQ(host.vm("100.70")->info->title, "Shop");
  EXPECT_EQ(host.vm("100.70")->info->guest_state, "paused");
  host.meter().set_libvirt_connected(false);
  host.step(1s);
  EXPECT_EQ(host.vm("100.70")->info->name, "dom-web");
  EXPECT_EQ(host.vm("100.70")->info->guest_state, "");
}

}  // namespace
}  // namespace keplerd
