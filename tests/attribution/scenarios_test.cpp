// SPDX-License-Identifier: Apache-2.0
// Scenarios on hosts, from the files of /sys, /proc and cgroup2 to the division: sensors and attribution
// together. Every invariant holds in every window, to the microjoule.
#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "attribution/attributor.h"
#include "attribution/invariants.h"
#include "attribution/make_model.h"
#include "energy/cpu/powercap.h"
#include "support/fake_host.h"
#include "usage/usage_reader.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kRange = 262'143'328'850;
constexpr std::int64_t kJoule = 1'000'000;

// A host with a package of 4 processors, a unit and its neighbour.
class Scenario : public testing::Test {
 protected:
  Scenario() {
    add_zone({.dir = "intel-rapl:0", .name = "package-0", .energy = 1000 * kJoule, .limits = {100 * kJoule}});
    fake_.set_stat(ticks_);
    fake_.add_cgroup("/system.slice/storm.service");
    fake_.add_cgroup("/system.slice/quiet.service");
    fake_.add_process({.pid = 10, .comm = "quiet", .cgroup = kQuiet});
  }

  void add_zone(const FakeZone& zone) {
    fake_.add_powercap_zone(zone);
    counters_[zone.dir] = zone.energy;
  }

  // The first sample: a baseline.
  void begin(std::span<const SavedReading> saved = {}) {
    host_ = std::make_unique<HostRoot>(fake_.open());
    auto source = open_powercap(*host_, {});
    ASSERT_TRUE(source) << source.error().message;
    source_ = *std::move(source);
    usage_ = std::make_unique<UsageReader>(*host_);
    attributor_.set_zones(source_->zones(), saved);
    if (saved.empty()) take_sample(1s);
  }

  // The window that ends now, with the energy that each zone (by id, without its source) is known to have
  // drawn; unnamed zones drew nothing.
  const Attribution& window(const std::map<std::string, std::int64_t>& energies, Nanoseconds after = 1s) {
    take_sample(after);
    std::vector<Microjoules> deltas;
    for (const Zone& zone : source_->zones()) {
      const auto energy = energies.find(fmt::format("{}:{}", zone.name, zone.index));
      deltas.push_back({energy == energies.end() ? 0 : energy->second});
    }
    expect_invariants(*result_, sample_, deltas);
    return *result_;
  }

  void take_sample(Nanoseconds after) {
    now_ += after;
    sample_.at = {.monotonic = now_, .boottime = now_ + asleep_};
    source_->read(now_, sample_.readings);
    const auto read = usage_->read(sample_.at.boottime, sample_.usage);
    ASSERT_TRUE(read) << read.error().message;
    result_ = &attributor_.attribute(sample_);
  }

  void draw(std::int64_t energy, const std::string& dir = "intel-rapl:0") {
    counters_[dir] = (counters_[dir] + energy) % kRange;
    fake_.set_energy(dir, counters_[dir]);
  }

  void run_ticks(std::int64_t user, std::int64_t idle, std::int64_t iowait = 0) {
    ticks_.user += user;
    ticks_.idle += idle;
    ticks_.iowait += iowait;
    fake_.set_stat(ticks_);
  }

  // In milliseconds, of the group and its ancestors.
  void run_group(std::string path, std::int64_t time) {
    for (; !path.empty(); path.resize(path.rfind('/'))) {
      usages_[path] += time * 1000;
      fake_.set_cgroup_usage(path, usages_[path]);
    }
  }
  void run(pid_t pid, const std::string& group, std::int64_t time) {
    times_[pid] += time / 10;
    fake_.set_process_time(pid, times_[pid]);
    if (group != "/") run_group(group, time);
  }

  std::size_t group(std::string_view path) const {
    const auto& groups = sample_.usage.groups;
    const auto found = std::ranges::find(groups, path, &GroupUsage::path);
    EXPECT_NE(found, groups.end()) << path;
    return static_cast<std::size_t>(found - groups.begin());
  }
  std::int64_t energy_of_group(std::string_view path) const {
    return result_->zones[0].group[group(path)].value;
  }
  std::int64_t other_of(std::string_view path) const { return result_->zones[0].other[group(path)].value; }
  std::int64_t unattributed() const { return result_->zones[0].unattributed.value; }
  std::int64_t energy_of_process(pid_t pid) const {
    for (std::size_t i = 0; i < sample_.usage.processes.size(); ++i) {
      if (sample_.usage.processes[i].id.pid == pid) return result_->zones[0].process[i].value;
    }
    ADD_FAILURE() << "no process " << pid;
    return -1;
  }

  static constexpr const char* kStorm = "/system.slice/storm.service";
  static constexpr const char* kQuiet = "/system.slice/quiet.service";

  FakeHost fake_;
  std::unique_ptr<HostRoot> host_;
  std::unique_ptr<EnergySource> source_;
  std::unique_ptr<UsageReader> usage_;
  Attributor attributor_{make_model()};
  Sample sample_;
  const Attribution* result_ = nullptr;
  Nanoseconds now_ = 1h;
  Nanoseconds asleep_{0};
  FakeCpuTicks ticks_{.user = 100, .idle = 1000, .iowait = 500};
  std::map<std::string, std::int64_t> counters_;
  std::map<std::string, std::int64_t> usages_;  // microseconds
  std::map<pid_t, std::int64_t> times_;         // ticks
};

TEST_F(Scenario, TwoPackagesWithDramAndAnMmioTwinAreFourZones) {
  add_zone({.dir = "intel-rapl:0:0", .name = "dram", .energy = 7});
  add_zone({.dir = "intel-rapl:1", .name = "package-1", .energy = 8});
  add_zone({.dir = "intel-rapl:1:0", .name = "dram", .energy = 9});
  add_zone({.dir = "intel-rapl-mmio:0", .name = "package-0", .energy = 1000 * kJoule});
  begin();
  run(10, kQuiet, 500);
  run_ticks(50, 150);
  draw(40 * kJoule, "intel-rapl:0");
  draw(40 * kJoule, "intel-rapl-mmio:0");
  draw(5 * kJoule, "intel-rapl:0:0");
  draw(30 * kJoule, "intel-rapl:1");
  draw(3, "intel-rapl:1:0");
  window({{"package:0", 40 * kJoule}, {"dram:0", 5 * kJoule}, {"package:1", 30 * kJoule}, {"dram:1", 3}});
  ASSERT_EQ(source_->zones().size(), 4U);
  std::int64_t total = 0;
  for (std::size_t zone = 0; zone < 4; ++zone) {
    EXPECT_EQ(result_->zones[zone].unattributed, Microjoules{});
    total += source_->zones()[zone].in_total ? result_->zones[zone].energy.value : 0;
  }
  EXPECT_EQ(total, 75 * kJoule + 3);
  EXPECT_EQ(energy_of_process(10), 10 * kJoule);
}

TEST_F(Scenario, WrapInOneZoneAndResetInAnother) {
  add_zone({.dir = "intel-rapl:1", .name = "package-1", .energy = 100'000 * kJoule});
  add_zone({.dir = "intel-rapl:0:0", .name = "dram", .energy = kRange - kJoule});
  fake_.set_energy("intel-rapl:0", counters_["intel-rapl:0"] = kRange - 10 * kJoule);
  begin();
  run(10, kQuiet, 100);
  run_ticks(10, 0);
  draw(40 * kJoule, "intel-rapl:0");
  draw(3 * kJoule, "intel-rapl:0:0");
  fake_.set_energy("intel-rapl:1", counters_["intel-rapl:1"] = 5 * kJoule);
  window({{"package:0", 40 * kJoule}, {"dram:0", 3 * kJoule}});
  EXPECT_EQ(energy_of_process(10), 40 * kJoule);
  run(10, kQuiet, 100);
  run_ticks(10, 0);
  draw(20 * kJoule, "intel-rapl:1");
  window({{"package:1", 20 * kJoule}});
}

TEST_F(Scenario, LaptopsWrapIsCountedFarAboveItsPowerLimit) {
  add_zone({.dir = "intel-rapl:0",
            .name = "package-0",
            .energy = kRange - 30 * kJoule,
            .limits = {15 * kJoule, 25 * kJoule}});
  begin();
  run(10, kQuiet, 1000);
  run_ticks(100, 0);
  draw(64 * kJoule);
  window({{"package:0", 64 * kJoule}});
  EXPECT_EQ(energy_of_process(10), 64 * kJoule);
}

TEST_F(Scenario, ZoneThatFailsForThreeTicksIsCountedWhenItReturns) {
  add_zone({.dir = "intel-rapl:1", .name = "package-1", .energy = 5});
  begin();
  for (int tick = 0; tick < 3; ++tick) {
    run(10, kQuiet, 200);
    run_ticks(20, 20);
    draw(10 * kJoule, "intel-rapl:0");
    draw(20 * kJoule, "intel-rapl:1");
    fake_.break_energy("intel-rapl:1");
    window({{"package:0", 10 * kJoule}});
    EXPECT_EQ(energy_of_process(10), 5 * kJoule);
    EXPECT_FALSE(sample_.readings[1]);
  }
  run(10, kQuiet, 200);
  run_ticks(20, 20);
  draw(10 * kJoule, "intel-rapl:0");
  draw(20 * kJoule, "intel-rapl:1");
  window({{"package:0", 10 * kJoule}, {"package:1", 80 * kJoule}});
  EXPECT_EQ(result_->zones[1].own[group(kQuiet)], Microjoules{40 * kJoule});
}

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

TEST_F(Scenario, NothingIsCountedAcrossASuspend) {
  begin();
  run(10, kQuiet, 300);
  run_ticks(30, 0);
  draw(30 * kJoule);
  asleep_ += 1h;
  window({});
  EXPECT_EQ(result_->zones[0].verdict, StepVerdict::kSuspended);
  run(10, kQuiet, 300);
  run_ticks(30, 0);
  draw(30 * kJoule);
  window({{"package:0", 30 * kJoule}});
  EXPECT_EQ(energy_of_process(10), 30 * kJoule);
}

TEST_F(Scenario, WhatWasDrawnWhileKeplerdWasDownIsUnattributed) {
  begin();
  run(10, kQuiet, 300);
  const auto saved = attributor_.last_readings();
  ASSERT_EQ(saved.size(), 1U);
  draw(500 * kJoule);
  attributor_ = Attributor(make_model());  // stopped, and started again
  begin(saved);
  window({{"package:0", 500 * kJoule}}, 20s);
  EXPECT_EQ(unattributed(), 500 * kJoule);
  run(10, kQuiet, 300);
  run_ticks(30, 0);
  draw(30 * kJoule);
  window({{"package:0", 30 * kJoule}});
  EXPECT_EQ(energy_of_process(10), 30 * kJoule);
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
