// SPDX-License-Identifier: Apache-2.0
// Scenarios on hosts, from the files of /sys, /proc and cgroup2 to the division: sensors and attribution
// together. Every invariant holds in every window, to the microjoule.
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "attribution/scenario.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

// 1,000 processes of 5 ms per window, of which only the last 20 still exist when they are read.
TEST_F(Scenario, ForkStormOfTenThousandProcessesCostsItsUnitAndNotItsNeighbour) {
  begin();
  pid_t next = 1000;
  for (int tick = 0; tick < 10; ++tick) {
    for (pid_t pid = next; tick > 0 && pid < next + 20; ++pid) fake_.remove_process(pid);
    next += 20;
    for (pid_t pid = next; pid < next + 20; ++pid) {
      fake_.add_process(
          {.pid = pid, .start = 360'000U + static_cast<unsigned>(tick) * 100, .cgroup = kStorm});
    }
    run_group(kStorm, 1000 * 5 - 20 * 10);
    for (pid_t pid = next; pid < next + 20; ++pid) run(pid, kStorm, 10);
    run(10, kQuiet, 1000);
    run_ticks(600, 0);
    draw(60 * kJoule);
    window({{"package:0", 60 * kJoule}});
    EXPECT_EQ(energy_of_group(kStorm), 50 * kJoule);
    EXPECT_EQ(other_of(kStorm), 50 * kJoule);
    EXPECT_EQ(energy_of_process(10), 10 * kJoule);
    EXPECT_EQ(sample_.usage.ended.size(), tick == 0 ? 0U : 20U);
  }
}

TEST_F(Scenario, ProcessThatMovesBetweenUnits) {
  fake_.add_process({.pid = 20, .cgroup = kStorm});
  begin();
  run(20, kStorm, 300);
  fake_.move_process(20, kQuiet);
  run(20, kQuiet, 100);
  run(10, kQuiet, 100);
  run_ticks(50, 0);
  draw(50 * kJoule);
  window({{"package:0", 50 * kJoule}});
  EXPECT_EQ(other_of(kStorm), 30 * kJoule);
  EXPECT_EQ(other_of(kQuiet), 10 * kJoule);
  EXPECT_EQ(energy_of_process(10), 10 * kJoule);
  EXPECT_EQ(energy_of_process(20), 0);
  run(20, kQuiet, 100);
  run_ticks(10, 0);
  draw(10 * kJoule);
  window({{"package:0", 10 * kJoule}});
  EXPECT_EQ(energy_of_process(20), 10 * kJoule);
}

TEST_F(Scenario, PidThatIsReused) {
  fake_.add_process({.pid = 20, .comm = "first", .start = 5, .cgroup = kStorm});
  begin();
  run(20, kStorm, 300);
  fake_.remove_process(20);
  fake_.add_process({.pid = 20, .comm = "second", .start = 360'050, .utime = 90, .cgroup = kStorm});
  run_group(kStorm, 900);
  run_ticks(120, 0);
  draw(12 * kJoule);
  window({{"package:0", 12 * kJoule}});
  EXPECT_EQ(sample_.usage.ended, (std::vector<ProcessId>{{20, 5}}));
  EXPECT_EQ(energy_of_process(20), 0);  // it was not there at both ends
  EXPECT_EQ(other_of(kStorm), 12 * kJoule);
}

TEST_F(Scenario, GroupThatDiesAndIsRebornUnderItsName) {
  begin();
  run_group(kStorm, 5000);
  run_ticks(500, 0);
  draw(50 * kJoule);
  window({{"package:0", 50 * kJoule}});
  const auto first = sample_.usage.groups[group(kStorm)].incarnation;
  run_group(kStorm, 300);  // its last
  fake_.remove_cgroup(kStorm);
  usages_.erase(kStorm);
  fake_.add_cgroup(kStorm);
  run_group(kStorm, 100);
  run_ticks(40, 0);
  draw(4 * kJoule);
  window({{"package:0", 4 * kJoule}});
  EXPECT_NE(sample_.usage.groups[group(kStorm)].incarnation, first);
  EXPECT_EQ(energy_of_group(kStorm), 1 * kJoule);
  EXPECT_EQ(other_of("/system.slice"), 3 * kJoule);
  EXPECT_EQ(unattributed(), 0);
}

TEST_F(Scenario, GroupThatComesAndEndsBetweenTwoTicks) {
  begin();
  const std::string brief = "/system.slice/brief.service";
  fake_.add_cgroup(brief);
  run_group(brief, 300);
  fake_.remove_cgroup(brief);
  run(10, kQuiet, 100);
  run_ticks(40, 0);
  draw(4 * kJoule);
  window({{"package:0", 4 * kJoule}});
  EXPECT_EQ(other_of("/system.slice"), 3 * kJoule);
  EXPECT_EQ(energy_of_process(10), 1 * kJoule);
}

TEST_F(Scenario, ThreadedGroupsAreInsideTheirMachine) {
  const std::string vm = "/machine.slice/vm.scope";
  for (const char* name : {"/vcpu0", "/vcpu1", "/emulator"}) {
    fake_.add_cgroup(vm + name);
    fake_.set_cgroup_type(vm + name, "threaded");
  }
  fake_.add_process({.pid = 20, .comm = "qemu", .cgroup = vm + "/emulator"});
  begin();
  run(20, vm + "/vcpu0", 300);
  run(10, kQuiet, 100);
  run_ticks(40, 0);
  draw(4 * kJoule);
  window({{"package:0", 4 * kJoule}});
  EXPECT_EQ(energy_of_group(vm), 3 * kJoule);
  EXPECT_EQ(energy_of_process(20), 3 * kJoule);
  EXPECT_EQ(sample_.usage.groups.size(), 5U);
}

TEST_F(Scenario, GroupThatCannotBeReadForATickIsNotCountedTwice) {
  begin();
  run_group(kStorm, 300);
  fake_.break_file(std::string("cgroup") + kStorm + "/cpu.stat");
  run_ticks(30, 0);
  draw(3 * kJoule);
  window({{"package:0", 3 * kJoule}});
  EXPECT_EQ(other_of("/system.slice"), 3 * kJoule);
  fake_.remove(std::string("cgroup") + kStorm + "/cpu.stat");
  run_group(kStorm, 100);
  run(10, kQuiet, 300);
  run_ticks(40, 0);
  draw(4 * kJoule);
  window({{"package:0", 4 * kJoule}});
  EXPECT_EQ(energy_of_process(10), 3 * kJoule);
  EXPECT_EQ(energy_of_group(kStorm) + other_of("/system.slice"), 1 * kJoule);
}

TEST_F(Scenario, IowaitThatDecreases) {
  begin();
  run(10, kQuiet, 300);
  run_ticks(30, 10, -20);
  draw(3 * kJoule);
  window({{"package:0", 3 * kJoule}});
  EXPECT_EQ(energy_of_process(10), 3 * kJoule);
  run(10, kQuiet, 100);
  run_ticks(10, 0, -100);
  draw(1 * kJoule);
  window({{"package:0", 1 * kJoule}});
  EXPECT_EQ(energy_of_process(10), 1 * kJoule);
}

TEST_F(Scenario, CpuTimeWithoutARunningProcessIsUnattributed) {
  begin();
  run_ticks(25, 75);
  draw(40 * kJoule);
  window({{"package:0", 40 * kJoule}});
  EXPECT_EQ(unattributed(), 10 * kJoule);
  run(10, kQuiet, 10);
  run_ticks(25, 75);
  draw(40 * kJoule);
  window({{"package:0", 40 * kJoule}});
  EXPECT_EQ(unattributed(), 0);
  EXPECT_EQ(energy_of_process(10), 10 * kJoule);
}

TEST_F(Scenario, KernelThreadsAndInterruptsAreTheKernel) {
  fake_.write("proc/pressure/irq", "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
  fake_.add_process({.pid = 3, .comm = "ksoftirqd/0", .ppid = 2, .kernel_thread = true});
  begin();
  run(3, "/", 200);
  run(10, kQuiet, 100);
  ticks_.softirq += 10;
  run_ticks(30, 0);
  draw(4 * kJoule);
  window({{"package:0", 4 * kJoule}});
  EXPECT_EQ(result_->zones[0].kernel, Microjoules{3 * kJoule});
  EXPECT_EQ(energy_of_process(10), 1 * kJoule);
}

// Everything at once, randomly.
TEST_F(Scenario, AnyChurnKeepsEveryInvariant) {
  std::mt19937 random(4711);
  begin();
  std::set<std::string> units;
  std::map<pid_t, std::string> processes;
  for (int tick = 0; tick < 40; ++tick) {
    for (int i = 0; i < 4; ++i) {
      const std::string slice = "/s" + std::to_string(random() % 4);
      const std::string unit = slice + "/u" + std::to_string(random() % 4);
      if (units.insert(unit).second) {
        fake_.add_cgroup(unit);
      } else if (random() % 3 == 0) {
        std::erase_if(processes, [&](const auto& process) {
          if (process.second == unit) fake_.remove_process(process.first);
          return process.second == unit;
        });
        fake_.remove_cgroup(unit);
        units.erase(unit);
        usages_.erase(unit);
        continue;
      }
      const pid_t pid = static_cast<pid_t>(100 + random() % 30);
      if (const auto known = processes.find(pid); known == processes.end()) {
        fake_.add_process({.pid = pid, .start = 400'000U + static_cast<unsigned>(tick), .cgroup = unit});
        times_[pid] = 0;
        processes[pid] = unit;
      } else if (random() % 2 == 0) {
        fake_.move_process(pid, known->second = unit);
      } else {
        fake_.remove_process(pid);
        processes.erase(known);
      }
    }
    for (const auto& [pid, unit] : processes) {
      if (random() % 2 == 0) run(pid, unit, static_cast<std::int64_t>(random() % 50) * 10);
    }
    for (const std::string& unit : units) {
      if (random() % 4 == 0) run_group(unit, static_cast<std::int64_t>(random() % 500));
    }
    run_ticks(static_cast<std::int64_t>(random() % 300), static_cast<std::int64_t>(random() % 100));
    const auto energy = static_cast<std::int64_t>(random() % (100 * kJoule));
    draw(energy);
    SCOPED_TRACE(tick);
    window({{"package:0", energy}}, 1ms * (500 + random() % 2000));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace keplerd
