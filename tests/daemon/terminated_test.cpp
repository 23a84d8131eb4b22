// SPDX-License-Identifier: Apache-2.0
// Ended workloads: which are kept, and that their energy stays in what they were part of.
#include <gtest/gtest.h>

#include "daemon/meter_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

// Processes 11, 12, ... in /a.service use 10, 20, ... J, then all end.
class Ended : public testing::Test {
 protected:
  void run(int processes, TerminatedLimits limits) {
    host.files.add_cgroup("/a.service", 0);
    for (pid_t pid = 11; pid <= 10 + processes; ++pid)
      host.files.add_process({.pid = pid, .cgroup = "/a.service"});
    host.begin();
    host.meter().set_limits(limits);
    std::int64_t ticks = 0;
    for (pid_t pid = 11; pid <= 10 + processes; ++pid) {
      host.files.set_process_time(pid, (pid - 10) * 10);
      ticks += (pid - 10) * 10;
    }
    host.files.set_cgroup_usage("/a.service", ticks * 10'000);
    host.draw(ticks * 2'000'000);
    host.step();
    for (pid_t pid = 11; pid <= 10 + processes; ++pid) host.files.remove_process(pid);
    host.step();
  }
  std::vector<pid_t> kept() {
    std::vector<pid_t> pids;
    for (const ProcessRow& row : host.view().processes->rows) {
      EXPECT_FALSE(row.running);
      pids.push_back(row.info->id.pid);
    }
    return pids;
  }

  MeterHost host;
};

TEST_F(Ended, ThoseWithLessThanTheLeastEnergyAreNotKept) {
  run(4, {.min_energy = {20'000'000}});
  EXPECT_EQ(kept(), (std::vector<pid_t>{12, 13, 14}));
  EXPECT_EQ(host.unit("/a.service").other.value, 10'000'000);
  EXPECT_EQ(host.unit("/a.service").own.value, 100'000'000);
}

TEST_F(Ended, TheMostEnergyIsKeptWhereThereAreTooMany) {
  run(4, {.max = 2, .min_energy = {}});
  EXPECT_EQ(kept(), (std::vector<pid_t>{13, 14}));
  EXPECT_EQ(host.unit("/a.service").other.value, 30'000'000);
}

TEST_F(Ended, NoneIsKeptWhereTheMostIsNone) {
  run(3, {.max = 0, .min_energy = {}});
  EXPECT_TRUE(kept().empty());
  EXPECT_EQ(host.unit("/a.service").own.value, 60'000'000);
}

TEST_F(Ended, AllAreKeptWithoutALimit) {
  run(4, {.max = std::nullopt, .min_energy = {}});
  EXPECT_EQ(kept().size(), 4u);
}

TEST_F(Ended, TheyGoAfterTheRetentionAndNotBeforeWhoeverHasRead) {
  run(2, {.min_energy = {}, .retention = 60s});
  host.step(59s);
  EXPECT_EQ(kept().size(), 2u);
  host.step(2s);
  EXPECT_TRUE(kept().empty());
}

TEST_F(Ended, AUnitGoesWithItsProcessesAndItsEnergyStaysInItsParent) {
  host.files.add_cgroup("/s.slice", 0);
  host.files.add_cgroup("/s.slice/a.service", 0);
  host.files.add_process({.pid = 11, .cgroup = "/s.slice/a.service"});
  host.begin();
  host.meter().set_limits({.min_energy = {}, .retention = 60s, .vm_retention = 60s});
  host.files.set_process_time(11, 10);
  host.files.set_cgroup_usage("/s.slice", 100'000);
  host.files.set_cgroup_usage("/s.slice/a.service", 100'000);
  host.draw(20'000'000);
  host.step();
  host.files.remove_process(11);
  host.files.remove_cgroup("/s.slice/a.service");
  host.step();
  EXPECT_EQ(host.meter().report()->units.size(), 2u);
  host.step(100s);
  EXPECT_EQ(host.meter().report()->units.size(), 1u);
  EXPECT_EQ(host.unit("/s.slice").own.value, 10'000'000);
  EXPECT_EQ(host.unit("/s.slice").other.value, 10'000'000);
}

TEST_F(Ended, ATopUnitThatGoesLeavesItsEnergyOutside) {
  run(1, {.min_energy = {}, .retention = 60s, .vm_retention = 60s});
  host.files.remove_cgroup("/a.service");
  host.step();
  host.step(100s);
  EXPECT_TRUE(host.meter().report()->units.empty());
  EXPECT_EQ(host.meter().report()->outside_other.value, 10'000'000);
}

TEST_F(Ended, TooManyUnitsLeaveChildrenFirst) {
  for (const char* path : {"/s.slice", "/s.slice/a.scope", "/s.slice/b.scope"})
    host.files.add_cgroup(path, 0);
  host.begin();
  host.meter().set_limits({.max = 2, .min_energy = {}});
  host.files.set_cgroup_usage("/s.slice", 300'000);
  host.files.set_cgroup_usage("/s.slice/a.scope", 100'000);
  host.files.set_cgroup_usage("/s.slice/b.scope", 200'000);
  host.draw(60'000'000);
  host.step();
  host.files.remove_cgroup("/s.slice");
  const Report& report = host.step();
  ASSERT_EQ(report.units.size(), 2u);
  EXPECT_EQ(report.units[0].info->id, "/s.slice");
  EXPECT_EQ(report.units[1].info->id, "/s.slice/b.scope");
}

}  // namespace
}  // namespace keplerd
