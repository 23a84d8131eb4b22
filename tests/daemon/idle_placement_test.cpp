// SPDX-License-Identifier: Apache-2.0
// Idle=: the idle energy of a window is placed on the workloads that run, exactly, and active energy is as
// without it.
#include "ledger/idle_placement.h"

#include <gtest/gtest.h>

#include "daemon/vm_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr const char* kCron = "/system.slice/cron.service";
constexpr const char* kWeb = "/system.slice/web.service";

class Idle : public VmTest {
 protected:
  void begin(IdlePlacing placing) {
    host.begin();
    host.meter().set_idle_placing(placing);
  }
  Microjoules idle(const std::string& unit) const { return host.unit(unit).idle; }
};

TEST_F(Idle, IsTheHostsIfItIsSeparate) {
  host.files.add_cgroup(kCron);
  begin(IdlePlacing::kSeparate);
  step(8'000'000);
  EXPECT_EQ(idle(kCron), Microjoules{});
  EXPECT_EQ(host.meter().report()->accounts.idle, Microjoules{4'000'000});
}

TEST_F(Idle, IsPlacedOnEachWorkloadTheSameIfItIsEqual) {
  host.files.add_cgroup(kCron);
  host.files.add_cgroup(kWeb);
  start_in_scope(100);
  begin(IdlePlacing::kEqual);
  use(100, kScope, 20);
  step(12'000'000);
  for (const std::string unit : {kCron, kWeb, kScope}) {
    EXPECT_EQ(idle(unit), Microjoules{2'000'000}) << unit;
    EXPECT_EQ(host.unit(unit).other, Microjoules{2'000'000}) << unit << ": no process has it";
  }
  EXPECT_EQ(host.vm(kUuid)->idle, Microjoules{2'000'000});
  EXPECT_EQ(host.vm(kUuid)->active, Microjoules{6'000'000});
  EXPECT_EQ(host.vm(kUuid)->power, Microwatts{8'000'000});
  EXPECT_EQ(idle("/system.slice"), Microjoules{4'000'000});
  const Report& report = *host.meter().report();
  EXPECT_EQ(report.host.idle, Microjoules{6'000'000});
  EXPECT_EQ(report.accounts.idle, Microjoules{});
  EXPECT_EQ(report.accounts.workloads, Microjoules{12'000'000});
}

TEST_F(Idle, OfAUnitWithUnitsInsideIsPlacedOnThese) {
  const std::string manager = "/user.slice/user-1000.slice/user@1000.service";
  const std::string app = manager + "/app.slice/app-editor.scope";
  host.files.add_cgroup(app);
  host.files.add_cgroup(manager + "/init.scope");
  begin(IdlePlacing::kEqual);
  step(8'000'000);
  EXPECT_EQ(idle(app), Microjoules{2'000'000});
  EXPECT_EQ(idle(manager), Microjoules{4'000'000});
  EXPECT_EQ(host.unit(manager).own, Microjoules{});
}

TEST_F(Idle, OfAContainerIsPlacedOnItWhateverRunsInside) {
  const std::string id(64, 'a');
  const std::string container = "/system.slice/docker-" + id + ".scope";
  for (int i = 0; i < 9; ++i)
    host.files.add_cgroup(container + "/system.slice/inner" + std::to_string(i) + ".service");
  host.files.add_cgroup(kCron);
  begin(IdlePlacing::kEqual);
  step(8'000'000);
  EXPECT_EQ(idle(kCron), Microjoules{2'000'000});
  ASSERT_NE(host.container(id), nullptr);
  EXPECT_EQ(host.container(id)->idle, Microjoules{2'000'000});
  EXPECT_EQ(host.container(id)->other, Microjoules{2'000'000});
}

TEST_F(Idle, OfAVmWithoutACgroupIsPlacedOnItsProcess) {
  const std::string session = "/user.slice/user-1000.slice/session-3.scope";
  host.files.add_cgroup(session);
  host.files.add_cgroup(kCron);
  host.files.add_process(
      {.pid = 100, .comm = "qemu-system-x86", .cgroup = session, .cmdline = qemu("test", kUuid)});
  begin(IdlePlacing::kEqual);
  step(8'000'000);
  EXPECT_EQ(host.vm(kUuid)->idle, Microjoules{2'000'000});
  EXPECT_EQ(host.process(100)->idle, Microjoules{2'000'000});
  EXPECT_EQ(idle(session), Microjoules{2'000'000});
  EXPECT_EQ(host.unit(session).other, Microjoules{}) << "its process has it";
}

TEST_F(Idle, OfAVmWithoutAnyCgroupIsPlacedOnItsProcess) {
  host.files.add_process({.pid = 100, .comm = "qemu-system-x86", .cmdline = qemu("test", kUuid)});
  begin(IdlePlacing::kEqual);
  step(8'000'000);
  EXPECT_EQ(host.vm(kUuid)->idle, Microjoules{4'000'000});
  EXPECT_EQ(host.meter().report()->accounts.workloads, Microjoules{4'000'000});
}

TEST_F(Idle, IsTheHostsIfNothingRuns) {
  begin(IdlePlacing::kEqual);
  step(8'000'000);
  EXPECT_EQ(host.meter().report()->accounts.idle, Microjoules{4'000'000});
}

TEST_F(Idle, ByUsageFollowsTheLastHourAndNotTheWindow) {
  for (const char* const unit : {kCron, kWeb}) host.files.add_cgroup(unit);
  host.files.add_process({.pid = 10, .cgroup = kCron});
  host.files.add_process({.pid = 11, .cgroup = kWeb});
  begin(IdlePlacing::kUsage);
  for (int i = 0; i < 60; ++i) {
    use(10, kCron, 60);
    use(11, kWeb, 20);
    step(8'000'000);
  }
  const Microjoules cron = idle(kCron), web = idle(kWeb);
  EXPECT_EQ(cron + web, host.meter().report()->host.idle);
  EXPECT_EQ(cron.value, 3 * web.value);
  use(11, kWeb, 20);  // cron sleeps for a window
  step(8'000'000);
  // 60 windows of 3 and 1 J and one of 0 and 4 J, each counting exp(-1 s/1 h) of the one after it.
  EXPECT_NEAR(static_cast<double>((idle(kCron) - cron).value), 2'950'409, 1);
}

TEST_F(Idle, ByUsageIsTheHostsUntilSomethingHasRun) {
  host.files.add_cgroup(kCron);
  begin(IdlePlacing::kUsage);
  step(8'000'000);
  EXPECT_EQ(host.meter().report()->accounts.idle, Microjoules{4'000'000});
}

TEST(IdlePlaced, DoesNotChangeActiveEnergy) {
  const auto active = [](IdlePlacing placing) {
    MeterHost host;
    host.files.add_cgroup(kCron);
    host.files.add_cgroup(kWeb);
    host.files.add_process({.pid = 10, .cgroup = kCron});
    host.files.add_process({.pid = 11, .cgroup = kWeb});
    host.begin();
    host.meter().set_idle_placing(placing);
    std::vector<Microjoules> energies;
    for (int i = 1; i < 20; ++i) {
      host.files.set_process_time(10, i * i);
      host.files.set_process_time(11, i * 7);
      host.files.set_cgroup_usage(kCron, i * i * 10'000);
      host.files.set_cgroup_usage(kWeb, i * 7 * 10'000);
      host.files.set_cgroup_usage("/system.slice", i * i * 10'000 + i * 7 * 10'000);
      host.draw(7'654'321, 1'234'567);
      host.step();
      for (const char* const unit : {"/system.slice", kCron, kWeb}) {
        energies.push_back(host.unit(unit).active);
        energies.push_back(host.unit(unit).error.value_or(Microjoules{}));
      }
    }
    return energies;
  };
  const auto separate = active(IdlePlacing::kSeparate);
  EXPECT_EQ(active(IdlePlacing::kEqual), separate);
  EXPECT_EQ(active(IdlePlacing::kUsage), separate);
}

TEST_F(Idle, OfAVmIsNotDividedAmongItsParts) {
  add_vm_with_threads(host.files);
  begin(IdlePlacing::kEqual);
  for (const std::string& path : {std::string(kScope), kLibvirtGroup, kLibvirtGroup + "/vcpu0"})
    host.files.set_cgroup_usage(path, 200'000);
  step(12'000'000);
  const std::vector<VmPart>& parts = host.vm(kUuid)->parts;
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[1], (VmPart{"vcpu0", {6'000'000}}));
  EXPECT_EQ(parts[2], (VmPart{"other", {6'000'000}})) << "its idle energy";
}

TEST_F(Idle, ThatWasPlacedIsSavedAndRestored) {
  host.files.add_cgroup(kCron);
  start_in_scope(100);
  begin(IdlePlacing::kEqual);
  step(8'000'000);
  const auto state = parse_state(format_state(host.meter().state()));
  ASSERT_TRUE(state) << state.error().message;
  Ledger again(*state, "next");
  const auto report = again.report();
  EXPECT_EQ(report->accounts.idle, Microjoules{});
  EXPECT_EQ(report->accounts.workloads, Microjoules{4'000'000});
  EXPECT_EQ(report->vms.at(0).idle, Microjoules{2'000'000});
  EXPECT_EQ(report->vms.at(0).active, Microjoules{});
}

}  // namespace
}  // namespace keplerd
