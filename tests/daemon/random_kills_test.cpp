// SPDX-License-Identifier: Apache-2.0
// keplerd killed at any time, with any workloads.
#include <random>

#include <gtest/gtest.h>

#include "daemon/write_ahead_host.h"

namespace keplerd {
namespace {

// Random lives of units, containers and processes; after a kill at a random sample, every row that continues
// has what was published last.
TEST_F(WriteAhead, NothingThatWasPublishedIsEverTakenBack) {
  std::mt19937 random(20261122);
  const auto roll = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::map<std::string, std::uint64_t> usage;
  std::map<pid_t, std::uint64_t> ticks;
  limits.max = 3;  // so that ended ones are dropped, too
  begin();
  const std::string instance = host.meter().report()->instance_id;
  for (int i = 0; i < 200; ++i) {
    const std::string unit =
        "/s" + std::to_string(roll(3)) + ".slice/u" + std::to_string(roll(4)) + ".service";
    if (!usage.contains(unit)) {
      host.files.add_cgroup(unit, 0);
      usage[unit] = 0;
    } else if (roll(4) == 0) {
      for (auto process = ticks.begin(); process != ticks.end();) {
        host.files.remove_process(process->first);
        process = ticks.erase(process);
      }
      host.files.remove_cgroup(unit);
      usage.erase(unit);
    } else {
      host.files.set_cgroup_usage(unit, usage[unit] += static_cast<std::uint64_t>(roll(100'000)));
      if (roll(3) == 0) {
        const pid_t pid = 100 + i;
        host.files.add_process({.pid = pid, .cgroup = unit});
        ticks[pid] = 0;
      }
    }
    for (auto& [pid, ticks_of] : ticks)
      if (roll(2) == 0) host.files.set_process_time(pid, ticks_of += static_cast<std::uint64_t>(roll(5)));
    host.draw(roll(20'000'000), roll(3'000'000));
    step();
    if (roll(7) == 0) keeper->save(host.meter().state(), false);
    if (roll(5) != 0) continue;

    const auto before = host.meter().report();
    std::map<std::string, Microjoules> units;
    for (const UnitRow& row : before->units) units[row.info->id] = row.active;
    std::map<ProcessId, Microjoules> processes;
    for (const ProcessRow& row : host.view().processes->rows)
      if (row.running) processes[row.info->id] = row.active;
    begin();
    const auto& after = *host.meter().report();
    EXPECT_EQ(after.instance_id, instance);
    EXPECT_EQ(after.host.energy, before->host.energy);
    EXPECT_EQ(after.accounts.workloads, before->accounts.workloads);
    EXPECT_EQ(after.accounts.kernel, before->accounts.kernel);
    ASSERT_EQ(after.units.size(), units.size());
    for (const UnitRow& row : after.units) EXPECT_EQ(row.active, units.at(row.info->id)) << row.info->id;
    for (const ProcessRow& row : host.view().processes->rows) {
      const auto published = processes.find(row.info->id);
      if (row.running && published != processes.end()) {
        EXPECT_EQ(row.active, published->second);
      }
    }
  }
}

}  // namespace
}  // namespace keplerd
