// SPDX-License-Identifier: Apache-2.0
// Virtual machines: each found, named, and counted whole, for as long as its UUID lives.
#include <initializer_list>

#include <gtest/gtest.h>

#include "daemon/meter_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr char kUuid[] = "2b9a43a1-5a5f-4cf0-9d3a-6a6f3a1d2c01";
constexpr char kOther[] = "7f1c8b1e-0000-4000-8000-00000000000a";
constexpr char kScope[] = "/machine.slice/machine-qemu\\x2d1\\x2dweb.scope";

std::string command(std::initializer_list<std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) (text += word) += '\0';
  return text;
}

std::string qemu(std::string_view name, std::string_view uuid) {
  return command({"/usr/bin/qemu-system-x86_64", "-name", "guest=" + std::string(name) + ",debug-threads=on",
                  "-uuid", uuid, "-S"});
}

class Machines : public testing::Test {
 protected:
  // A hypervisor in its libvirt scope.
  void start_in_scope(pid_t pid, const std::string& command_line = qemu("web", kUuid),
                      std::uint64_t start = 100) {
    host.files.add_cgroup(kScope);
    host.files.add_process(
        {.pid = pid, .comm = "qemu-system-x86", .start = start, .cgroup = kScope, .cmdline = command_line});
  }
  // Everybody's CPU time since boot, in ticks of 10 ms; the groups have what their processes have.
  void use(pid_t pid, const std::string& cgroup, std::int64_t ticks) {
    host.files.set_process_time(pid, used[pid] += ticks);
    host.files.set_cgroup_usage(cgroup, (group_used[cgroup] += ticks) * 10'000);
  }
  void step(std::int64_t microjoules) {
    host.draw(microjoules);
    host.step();
  }
  Microjoules energy(const std::string& id) {
    const MachineRow* const row = host.machine(id);
    return row == nullptr ? Microjoules{-1} : row->active + row->idle;
  }

  MeterHost host;
  std::map<pid_t, std::int64_t> used;
  std::map<std::string, std::int64_t> group_used;
};

TEST_F(Machines, AreListedWithWhatTheirCommandLineTells) {
  start_in_scope(100);
  host.begin();
  ASSERT_NE(host.machine(kUuid), nullptr);
  const MachineInfo& info = *host.machine(kUuid)->info;
  EXPECT_EQ(info.name, "web");
  EXPECT_EQ(info.uuid, kUuid);
  EXPECT_EQ(info.hypervisor, "kvm");
  EXPECT_EQ(info.pid, 100);
  EXPECT_EQ(info.unit, kScope);
  EXPECT_EQ(info.container, std::nullopt);
}

TEST_F(Machines, TheirScopeCountsWholeWithAllThatHelpsToRunThem) {
  start_in_scope(100);
  host.files.add_process({.pid = 101, .comm = "virtiofsd", .cgroup = kScope});
  host.files.add_process({.pid = 102, .comm = "vhost-100", .cgroup = kScope, .kernel_thread = true});
  host.begin();
  for (const pid_t pid : {100, 101, 102}) use(pid, kScope, 20);
  use(100, kScope, 0);
  group_used[kScope] += 5;  // a process that came and went
  use(100, kScope, 0);
  step(10'000'000);
  EXPECT_EQ(energy(kUuid), Microjoules{5'000'000});  // all that was active
  EXPECT_EQ(energy(kUuid), host.unit(kScope).active);
  EXPECT_EQ(host.machine(kUuid)->cpu, 650ms);
  EXPECT_EQ(host.machine(kUuid)->power, (Microwatts{5'000'000}));
  for (const pid_t pid : {100, 101, 102}) {
    ASSERT_NE(host.process(pid)->machine, nullptr);
    EXPECT_EQ(host.process(pid)->machine->id, kUuid);
  }
}

TEST_F(Machines, InAnyOtherCgroupTheirProcessCountsAlone) {
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
  EXPECT_EQ(host.machine(kUuid)->info->unit, session);
  EXPECT_EQ(host.process(100)->machine->id, kUuid);
  EXPECT_EQ(host.process(101)->machine, nullptr);
}

TEST_F(Machines, WithoutCgroupsTheirProcessCounts) {
  host.files.add_process({.pid = 100, .comm = "qemu-system-x86", .cmdline = qemu("test", kUuid)});
  host.begin();
  host.files.set_process_time(100, 40);
  step(8'000'000);
  EXPECT_EQ(energy(kUuid), Microjoules{4'000'000});
  EXPECT_EQ(host.machine(kUuid)->info->unit, std::nullopt);
}

TEST_F(Machines, WhatTheirScopeDrewBeforeTheyWereKnownIsTheirs) {
  host.begin();
  host.files.add_cgroup(kScope);
  host.files.add_process({.pid = 100, .comm = "rpc-libvirtd", .cgroup = kScope});
  use(100, kScope, 10);
  step(2'000'000);
  EXPECT_TRUE(host.meter().last_report()->machines.empty());
  host.files.add_process(
      {.pid = 100, .comm = "qemu-system-x86", .utime = 10, .cgroup = kScope, .cmdline = qemu("web", kUuid)});
  use(100, kScope, 10);
  step(2'000'000);
  EXPECT_EQ(energy(kUuid), Microjoules{2'000'000});
  EXPECT_EQ(energy(kUuid), host.unit(kScope).active);
}

TEST_F(Machines, GoOnUnderTheirUuidWhenStartedAgain) {
  start_in_scope(100);
  host.begin();
  use(100, kScope, 50);
  step(10'000'000);
  host.files.remove_process(100);
  host.files.remove_cgroup(kScope);
  step(0);
  ASSERT_NE(host.machine(kUuid), nullptr);
  EXPECT_FALSE(host.machine(kUuid)->running);
  EXPECT_EQ(host.machine(kUuid)->info->name, "web");

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
  EXPECT_TRUE(host.machine(kUuid)->running);
  EXPECT_EQ(energy(kUuid), Microjoules{10'000'000});
  EXPECT_EQ(host.machine(kUuid)->info->name, "renamed");
  EXPECT_EQ(host.machine(kUuid)->info->pid, 200);
}

TEST_F(Machines, AScopeInsideAMachinesScopeIsCountedOnce) {
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
  EXPECT_EQ(host.meter().last_report()->machines.size(), 1u);
  EXPECT_EQ(energy(kUuid), Microjoules{5'000'000});
}

TEST_F(Machines, GoOnWithinOneWindow) {
  start_in_scope(100);
  host.begin();
  use(100, kScope, 50);
  step(10'000'000);
  host.files.remove_process(100);
  start_in_scope(200, qemu("web", kUuid), 900);
  use(200, kScope, 0);
  step(0);
  EXPECT_EQ(host.meter().last_report()->machines.size(), 1u);
  EXPECT_TRUE(host.machine(kUuid)->running);
  EXPECT_EQ(host.machine(kUuid)->info->pid, 200);
  EXPECT_EQ(energy(kUuid), Microjoules{5'000'000});
}

TEST_F(Machines, WithoutNameAndUuidEachIsItsOwn) {
  for (const pid_t pid : {100, 101}) {
    host.files.add_process({.pid = pid,
                            .comm = "qemu-system-x86",
                            .start = 70,
                            .cmdline = command({"qemu-system-x86_64", "-m", "512"})});
  }
  host.begin();
  for (const char* const id : {"100.70", "101.70"}) {
    ASSERT_NE(host.machine(id), nullptr) << id;
    EXPECT_EQ(host.machine(id)->info->name, id);
    EXPECT_EQ(host.machine(id)->info->uuid, std::nullopt);
  }
}

TEST_F(Machines, OfTwoWithOneUuidTheFirstHasIt) {
  for (const pid_t pid : {100, 101})
    host.files.add_process(
        {.pid = pid, .comm = "qemu-system-x86", .start = 70, .cmdline = qemu("clone", kUuid)});
  host.begin();
  EXPECT_EQ(host.meter().last_report()->machines.size(), 2u);
  EXPECT_EQ(host.machine(kUuid)->info->pid, 100);
  ASSERT_NE(host.machine("101.70"), nullptr);
  EXPECT_EQ(host.machine("101.70")->info->uuid, kUuid);
}

TEST_F(Machines, AForkOfTheirHypervisorIsTheSameMachine) {
  const std::string line = command({"qemu-system-x86_64", "-daemonize", "-name", "d"});
  host.files.add_process({.pid = 100, .comm = "qemu-system-x86", .start = 70, .cmdline = line});
  host.files.add_process({.pid = 101, .comm = "qemu-system-x86", .ppid = 100, .start = 71, .cmdline = line});
  host.begin();
  EXPECT_EQ(host.meter().last_report()->machines.size(), 1u);
  host.files.remove_process(100);
  step(0);
  ASSERT_NE(host.machine("100.70"), nullptr);
  EXPECT_TRUE(host.machine("100.70")->running);
  host.files.set_process_time(101, 50);
  step(2'000'000);
  EXPECT_EQ(energy("100.70"), Microjoules{1'000'000});
}

TEST_F(Machines, InAContainerAreBothAndCountedOnce) {
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
  EXPECT_EQ(energy(kUuid), Microjoules{3'000'000});
  EXPECT_EQ(host.machine(kUuid)->info->container, id);
  EXPECT_EQ(host.container(id)->active, Microjoules{4'000'000});
  EXPECT_EQ(host.process(100)->container->id, id);
  EXPECT_EQ(host.meter().last_report()->accounts.workloads, Microjoules{4'000'000});
}

TEST_F(Machines, AScopeOfWhichNobodyTellsIsListedByItsOldestProcess) {
  host.files.add_cgroup(kScope);
  host.files.add_process({.pid = 101, .comm = "helper", .start = 90, .cgroup = kScope});
  host.files.add_process({.pid = 102, .comm = "helper", .start = 80, .cgroup = kScope});
  host.begin();
  for (int i = 0; i < 4; ++i) {
    use(101, kScope, 10);
    step(2'000'000);
  }
  ASSERT_NE(host.machine("102.80"), nullptr);
  EXPECT_EQ(host.machine("102.80")->info->name, "web");
  EXPECT_EQ(host.machine("102.80")->info->hypervisor, "kvm");
  EXPECT_EQ(energy("102.80"), Microjoules{4'000'000});

  // Then its hypervisor is found after all.
  start_in_scope(100);
  step(0);
  use(100, kScope, 10);
  step(2'000'000);
  EXPECT_FALSE(host.machine("102.80")->running);
  EXPECT_EQ(energy(kUuid), Microjoules{1'000'000});
}

TEST_F(Machines, OneThatWasGuessedIsNamedByItsHypervisorWhenThatIsKnown) {
  const std::string script = command({"/bin/sh", "/usr/local/bin/start-guest"});
  host.files.add_cgroup(kScope);
  host.files.add_process(
      {.pid = 100, .comm = "start-guest", .start = 70, .cgroup = kScope, .cmdline = script});
  host.begin();
  for (int i = 0; i < 4; ++i) step(0);
  EXPECT_NE(host.machine("100.70"), nullptr);
  start_in_scope(100, qemu("web", kUuid), 70);
  step(0);
  ASSERT_NE(host.machine(kUuid), nullptr);
  EXPECT_TRUE(host.machine(kUuid)->running);
  EXPECT_FALSE(host.machine("100.70")->running);
  EXPECT_EQ(host.process(100)->machine->id, kUuid);
}

TEST_F(Machines, AHypervisorThatIsMovedIntoItsScopeIsCountedByIt) {
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
  EXPECT_EQ(host.machine(kUuid)->info->unit, kScope);
}

std::vector<std::pair<std::string, std::int64_t>> breakdown(const MachineRow& row) {
  std::vector<std::pair<std::string, std::int64_t>> out;
  for (const MachinePart& part : row.parts) out.emplace_back(part.name, part.energy.value);
  return out;
}

using Parts = std::vector<std::pair<std::string, std::int64_t>>;

TEST_F(Machines, AreBrokenDownByLibvirtsCgroups) {
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
  EXPECT_TRUE(host.machine(kUuid)->info->vcpus);
  const auto use_all = [&] {
    host.files.set_cgroup_usage(kScope, (group_used[kScope] += 50) * 10'000);
    host.files.set_cgroup_usage(libvirt, group_used[kScope] * 10'000);
    part("vcpu0", 5'000'000 + group_used[kScope] * 6'000);
    part("vcpu1", group_used[kScope] * 3'000);
    part("emulator", group_used[kScope] * 500);
  };
  use_all();
  step(20'000'000);
  EXPECT_EQ(breakdown(*host.machine(kUuid)),
            (Parts{{"emulator", 500'000}, {"vcpu0", 6'000'000}, {"vcpu1", 3'000'000}, {"other", 500'000}}));
  EXPECT_EQ(host.machine(kUuid)->info->vcpus, 2);
  use_all();
  step(20'000'000);
  EXPECT_EQ(
      breakdown(*host.machine(kUuid)),
      (Parts{{"emulator", 1'000'000}, {"vcpu0", 12'000'000}, {"vcpu1", 6'000'000}, {"other", 1'000'000}}));

  // It goes on after a restart.
  const auto read = parse_state(format_state(host.meter().state()));
  ASSERT_TRUE(read.ok()) << read.error().message;
  host.begin({}, Ledger(*read, "another"), read->readings);
  use_all();
  step(20'000'000);
  EXPECT_EQ(
      breakdown(*host.machine(kUuid)),
      (Parts{{"emulator", 1'500'000}, {"vcpu0", 18'000'000}, {"vcpu1", 9'000'000}, {"other", 1'500'000}}));
}

TEST_F(Machines, AreBrokenDownByTheirThreadsWhereThereAreNoSuchCgroups) {
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
  EXPECT_EQ(host.machine(kUuid)->info->vcpus, 1);
  thread(100, "qemu-system-x86", 100'000'000);
  thread(101, "CPU 0/KVM", 700'000'000);
  thread(102, "IO disk", 100'000'000);
  use(100, kScope, 100);
  step(20'000'000);
  EXPECT_EQ(breakdown(*host.machine(kUuid)), (Parts{{"emulator", 1'000'000},
                                                    {"iothread:disk", 1'000'000},
                                                    {"vcpu0", 7'000'000},
                                                    {"other", 1'000'000}}));
}

TEST_F(Machines, WhoseThreadsHaveNoNamesAreNotBrokenDown) {
  start_in_scope(100);
  host.files.write("proc/100/task/100/comm", "qemu-system-x86\n");
  host.files.write("proc/100/task/100/schedstat", "0 0 1\n");
  host.begin();
  for (int i = 0; i < 3; ++i) {
    use(100, kScope, 10);
    step(2'000'000);
  }
  EXPECT_TRUE(host.machine(kUuid)->parts.empty());
  EXPECT_EQ(host.machine(kUuid)->info->vcpus, std::nullopt);
}

TEST_F(Machines, AreNotWhateverHasQemuInItsArguments) {
  host.files.add_process(
      {.pid = 100, .comm = "grep", .cmdline = command({"grep", "/usr/bin/qemu-system-x86_64"})});
  host.files.add_process({.pid = 101,
                          .comm = "qemu-system-x86",
                          .cmdline = command({"qemu-system-x86_64", "-machine", "none", "-S"})});
  host.begin();
  EXPECT_TRUE(host.meter().last_report()->machines.empty());
}

TEST_F(Machines, AScriptThatStartsOneIsFoundWhenItHas) {
  const std::string script = command({"/bin/sh", "/usr/local/bin/qemu-system-x86_64", "-name", "web"});
  host.files.add_process({.pid = 100, .comm = "qemu-system-x86", .start = 70, .cmdline = script});
  host.begin();
  EXPECT_TRUE(host.meter().last_report()->machines.empty());
  host.files.add_process({.pid = 100, .comm = "qemu-system-x86", .start = 70, .cmdline = qemu("web", kUuid)});
  step(0);
  EXPECT_NE(host.machine(kUuid), nullptr);
}

TEST_F(Machines, EndedOnesGoAfterTheRetentionAndStayInTheirUnits) {
  start_in_scope(100);
  host.begin();
  host.meter().set_limits({.retention = 60s});
  use(100, kScope, 50);
  step(10'000'000);
  host.files.remove_process(100);
  host.files.remove_cgroup(kScope);
  step(0);
  host.step(59s);
  EXPECT_NE(host.machine(kUuid), nullptr);
  host.step(2s);
  EXPECT_EQ(host.machine(kUuid), nullptr);
}

TEST_F(Machines, OfEndedOnesThoseWithTheMostEnergyAreKept) {
  host.files.add_process({.pid = 100, .comm = "qemu-system-x86", .cmdline = qemu("a", kUuid)});
  host.files.add_process({.pid = 101, .comm = "qemu-system-x86", .cmdline = qemu("b", kOther)});
  host.begin();
  host.meter().set_limits({.max = 1});
  host.files.set_process_time(100, 10);
  host.files.set_process_time(101, 30);
  step(8'000'000);
  for (const pid_t pid : {100, 101}) host.files.remove_process(pid);
  step(0);
  EXPECT_EQ(host.machine(kUuid), nullptr);
  EXPECT_EQ(energy(kOther), Microjoules{3'000'000});
}

TEST_F(Machines, GoOnAfterARestartOfKeplerd) {
  start_in_scope(100);
  host.begin();
  use(100, kScope, 50);
  step(10'000'000);
  const LedgerState state = host.meter().state();
  const auto read = parse_state(format_state(state));
  ASSERT_TRUE(read.ok()) << read.error().message;
  host.begin({}, Ledger(*read, "another"), read->readings);
  EXPECT_EQ(energy(kUuid), Microjoules{5'000'000});
  EXPECT_TRUE(host.machine(kUuid)->running);
  use(100, kScope, 50);
  step(10'000'000);
  EXPECT_EQ(energy(kUuid), Microjoules{10'000'000});
  EXPECT_EQ(host.meter().last_report()->machines.size(), 1u);
}

}  // namespace
}  // namespace keplerd
