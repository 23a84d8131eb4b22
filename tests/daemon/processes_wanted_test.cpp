// SPDX-License-Identifier: Apache-2.0
// Processes are read with each sample only while somebody wants them; everything else is exact with each
// sample (MeterHost checks that each report adds up, and that no counter decreases).
#include <array>
#include <string>

#include <gtest/gtest.h>

#include "daemon/meter_host.h"
#include "daemon/vm_host.h"
#include "daemon/write_ahead_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr char kUnit[] = "/system.slice/a.service";
constexpr char kOther[] = "/system.slice/b.service";

// A unit with two processes, and one with none that is listed. In each window 10 J are active and 10 J idle.
class ProcessesWanted : public WriteAhead {
 protected:
  ProcessesWanted() {
    for (const char* const path : {"/system.slice", kUnit, kOther}) host.files.add_cgroup(path);
    for (const pid_t pid : {10, 11}) host.files.add_process({.pid = pid, .cgroup = kUnit});
  }

  // Groups that are new are read for ten seconds.
  void settle() {
    begin();
    host.step(11s);
    log();
    host.meter().want_processes(false);
  }

  // Clock ticks of the processes, and of others in the unit.
  void run(int one, int two, int others = 0, int other_unit = 0) {
    host.files.set_process_time(10, ticks_[0] += one);
    host.files.set_process_time(11, ticks_[1] += two);
    ticks_[2] += one + two + others;
    ticks_[3] += other_unit;
    host.files.set_cgroup_usage(kUnit, ticks_[2] * 10'000);
    host.files.set_cgroup_usage(kOther, ticks_[3] * 10'000);
    host.files.set_cgroup_usage("/system.slice", (ticks_[2] + ticks_[3]) * 10'000);
    host.draw(20'000'000);
  }

  std::int64_t energy(pid_t pid) const { return host.process(pid)->active.value; }
  std::int64_t undivided() const { return host.unit(kUnit).undivided.value_or(Microjoules{}).value; }

  std::array<std::int64_t, 4> ticks_{};
};

TEST_F(ProcessesWanted, UnitsAreExactWhileNobodyAsks) {
  settle();
  run(20, 0, 10, 10);
  step();
  EXPECT_EQ(host.unit(kUnit).own.value, 7'500'000);
  EXPECT_EQ(host.unit(kUnit).power->value, 7'500'000);
  EXPECT_EQ(host.unit(kUnit).other.value, 0);
  EXPECT_EQ(undivided(), 7'500'000);
  EXPECT_EQ(host.unit(kOther).own.value, 2'500'000);
  EXPECT_EQ(host.unit(kOther).other.value, 2'500'000) << "no process of it could have used that";
  EXPECT_EQ(energy(10), 0);
  EXPECT_EQ(host.process(10)->power, std::nullopt) << "not known, rather than none";
  EXPECT_FALSE(host.view().processes->is_complete);
  EXPECT_TRUE(host.meter().lacks_processes());
}

TEST_F(ProcessesWanted, WhoAsksSeesWhatEachHasUsedMeanwhile) {
  settle();
  run(20, 0);
  step();
  run(10, 10);
  step();
  host.meter().want_processes(true);
  run(10, 40, 10);
  step();
  EXPECT_EQ(undivided(), 0);
  EXPECT_EQ(energy(10), 12'000'000) << "40 of 100 ticks, of 30 J";
  EXPECT_EQ(energy(11), 15'000'000);
  EXPECT_EQ(host.unit(kUnit).other.value, 3'000'000);
  EXPECT_EQ(host.process(11)->power->value, 5'000'000) << "of this window";
  EXPECT_EQ(host.process(10)->cpu, 400ms);
  EXPECT_EQ(host.process(10)->in_unit.value, 12'000'000);
  EXPECT_TRUE(host.view().processes->is_complete);
  EXPECT_FALSE(host.meter().lacks_processes());
}

TEST_F(ProcessesWanted, TheyAreReadEveryTenSecondsAnyway) {
  settle();
  for (int second = 1; second < 10; ++second) {
    run(10, 10);
    step();
    EXPECT_EQ(undivided(), second * 10'000'000);
  }
  run(10, 10);
  step();
  EXPECT_EQ(undivided(), 0);
  EXPECT_EQ(energy(10), 50'000'000);
  EXPECT_EQ(energy(11), 50'000'000);
}

TEST_F(ProcessesWanted, ContainerOfAUnitIsExactToo) {
  const std::string scope = "/system.slice/docker-" + std::string(64, 'a') + ".scope";
  host.files.add_cgroup(scope);
  host.files.add_process({.pid = 12, .cgroup = scope});
  settle();
  host.files.set_process_time(12, 10);
  host.files.set_cgroup_usage(scope, 100'000);
  host.files.set_cgroup_usage("/system.slice", 100'000);
  host.draw(20'000'000);
  step();
  const ContainerRow& container = *host.container(std::string(64, 'a'));
  EXPECT_EQ(container.active.value, 10'000'000);
  EXPECT_EQ(container.undivided, Microjoules{10'000'000});
  host.meter().want_processes(true);
  step();
  EXPECT_EQ(host.container(std::string(64, 'a'))->undivided, std::nullopt);
  EXPECT_EQ(host.process(12)->in_unit.value, 10'000'000);
}

// It is not known any more which part of it each process has used before.
TEST_F(ProcessesWanted, UnitThatBecomesAContainerKeepsWhatWasUndivided) {
  settle();
  run(20, 0);
  step();
  host.files.write("root/run/systemd/machines/box",
                   "NAME=box\nSCOPE=a.service\nSERVICE=systemd-nspawn\nCLASS=container\n");
  host.files.add_process({.pid = 12});  // a program that begins: records are looked at
  run(0, 20);
  step();
  ASSERT_NE(host.container("box"), nullptr);
  EXPECT_EQ(host.container("box")->undivided, Microjoules{10'000'000});
  EXPECT_EQ(host.unit(kUnit).other.value, 10'000'000);
  host.meter().want_processes(true);
  step();
  EXPECT_EQ(host.container("box")->other.value, 10'000'000);
  EXPECT_EQ(host.unit(kUnit).other.value, 20'000'000);
  for (const pid_t pid : {10, 11}) {
    EXPECT_EQ(energy(pid), 10'000'000) << "their totals have it";
    EXPECT_EQ(host.process(pid)->in_unit.value, 0);
  }
}

TEST_F(ProcessesWanted, UnitThatEndsKeepsWhatWasUndivided) {
  settle();
  run(20, 0);
  step();
  for (const pid_t pid : {10, 11}) host.files.remove_process(pid);
  host.files.remove_cgroup(kUnit);
  step();
  EXPECT_EQ(undivided(), 0);
  EXPECT_EQ(host.unit(kUnit).other.value, 10'000'000);
}

TEST_F(ProcessesWanted, ProcessThatMovesAwayGetsNothingOfWhatItsUnitUsed) {
  settle();
  run(20, 20);
  step();
  host.files.move_process(10, kOther);
  run(0, 20);
  step();
  host.meter().want_processes(true);
  step();
  EXPECT_EQ(energy(10), 0);
  EXPECT_EQ(energy(11), 13'333'333);
  EXPECT_EQ(host.unit(kUnit).other.value, 6'666'667);
}

TEST_F(ProcessesWanted, AKilledRunLeavesItToTheUnit) {
  settle();
  run(20, 0);
  step();
  const std::int64_t other = host.unit(kUnit).other.value;
  host.pass(1s);
  run(0, 10);
  begin();
  EXPECT_EQ(host.unit(kUnit).own.value, 20'000'000);
  EXPECT_GE(host.unit(kUnit).other.value, other);
  EXPECT_EQ(host.process(10)->active.value, 0) << "it did not run in this window";
  EXPECT_EQ(host.unit(kUnit).other.value, 20'000'000);
  EXPECT_EQ(undivided(), 0);
}

TEST_F(ProcessesWanted, PlacingIdleEnergyAndRecordingNeedThemAll) {
  settle();
  host.meter().set_recorded(true);
  run(20, 0);
  step();
  EXPECT_EQ(energy(10), 10'000'000);
  host.meter().set_recorded(false);
  host.meter().set_idle_placing(IdlePlacing::kUsage);
  run(20, 0);
  step();
  EXPECT_FALSE(host.meter().lacks_processes());
}

class VmsWithoutScope : public VmTest {};

TEST_F(VmsWithoutScope, AreExactWithEachSampleWhileNobodyAsksForProcesses) {
  const std::string session = "/user.slice/user-1000.slice/session-3.scope";
  const std::string quiet = "/system.slice/a.service";
  for (const std::string& path : {session, quiet}) host.files.add_cgroup(path);
  host.files.add_process(
      {.pid = 100, .comm = "qemu-system-x86", .cgroup = session, .cmdline = qemu("test", kUuid)});
  host.files.add_process({.pid = 101, .comm = "make", .cgroup = session});
  host.files.add_process({.pid = 102, .comm = "make", .cgroup = quiet});
  host.begin();
  host.step(11s);
  host.meter().want_processes(false);
  for (int second = 1; second <= 3; ++second) {
    use(100, session, 30);
    use(101, session, 10);
    use(102, quiet, 40);
    step(16'000'000);
    EXPECT_EQ(energy(kUuid).value, second * 3'000'000);
    EXPECT_EQ(host.vm(kUuid)->power, (Microwatts{3'000'000}));
    EXPECT_FALSE(host.unit(session).undivided);
    EXPECT_TRUE(host.unit(quiet).undivided);
  }
}

// Its energy of the first window is known only with that of the processes which had run there before.
TEST_F(VmsWithoutScope, LoseNothingWhereTheyStartAmongProcessesThatWereNotRead) {
  const std::string session = "/user.slice/user-1000.slice/session-3.scope";
  host.files.add_cgroup(session);
  host.files.add_process({.pid = 101, .comm = "make", .cgroup = session});
  host.begin();
  host.step(11s);
  host.meter().want_processes(false);
  for (int second = 1; second <= 4; ++second) {
    if (second == 4)
      host.files.add_process(
          {.pid = 100, .comm = "qemu-system-x86", .cgroup = session, .cmdline = qemu("test", kUuid)});
    use(101, session, 40);
    step(8'000'000);
    EXPECT_TRUE(host.unit(session).undivided);
  }
  use(100, session, 30);
  use(101, session, 10);
  step(8'000'000);
  EXPECT_FALSE(host.unit(session).undivided);
  EXPECT_EQ(host.process(100)->active.value, 3'000'000);
  EXPECT_EQ(energy(kUuid).value, 3'000'000);
  EXPECT_EQ(host.vm(kUuid)->error, host.process(100)->error);
}

}  // namespace
}  // namespace keplerd
