// SPDX-License-Identifier: Apache-2.0
// keplerd killed at any time, with any workloads.
#include <random>

#include <gtest/gtest.h>

#include "daemon/write_ahead_host.h"

namespace keplerd {
namespace {

// A run that is not killed, on the same files.
class WholeRun {
 public:
  explicit WholeRun(const MeterHost& host)
      : root_(host.files.open()),
        meter_(
            root_, {}, Ledger("whole", Realtime(1)), {}, [&host] { return host.now; }, host.limits) {}

  // As `killed` has sampled now.
  void expect_same(const ReportView& killed, const TerminatedLimits& limits) {
    const auto report = meter_.sample();
    meter_.set_limits(limits);
    const auto processes = meter_.processes();
    EXPECT_EQ(killed.report->host.energy, report->host.energy);
    EXPECT_EQ(killed.report->accounts.kernel, report->accounts.kernel);
    EXPECT_EQ(killed.report->accounts.workloads, report->accounts.workloads);
    EXPECT_EQ(killed.report->accounts.unattributed, report->accounts.unattributed);
    ASSERT_EQ(killed.report->units.size(), report->units.size());
    for (std::size_t i = 0; i < report->units.size(); ++i) {
      const UnitRow& one = killed.report->units[i];
      const UnitRow& other = report->units[i];
      ASSERT_EQ(one.info->id, other.info->id);
      EXPECT_EQ(one.active, other.active) << one.info->id;
      EXPECT_EQ(one.own, other.own) << one.info->id;
      EXPECT_EQ(one.cpu, other.cpu) << one.info->id;
    }
    std::map<ProcessId, Microjoules> whole;
    for (const ProcessRow& row : processes->rows)
      if (row.running) whole[row.info->id] = row.active;
    for (const ProcessRow& row : killed.processes->rows) {
      if (row.running) {
        EXPECT_EQ(row.active, whole[row.info->id]);
      }
    }
  }

 private:
  HostRoot root_;
  Meter meter_;
};

// Random lives of units and processes, before a kill at a random sample and until the next run: it goes on as
// if there had been no kill, though some runs cannot save at first.
TEST_F(WriteAhead, ARunThatIsKilledHasWhatOneHasThatIsNot) {
  std::mt19937 random(20261122);
  const auto roll = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::map<std::string, std::uint64_t> usage;
  std::map<pid_t, std::uint64_t> ticks;
  limits.max = 3;  // so that ended ones are dropped, too
  limits.retention = limits.vm_retention = std::chrono::seconds(15);
  begin();
  WholeRun whole(host);
  whole.expect_same(host.view(), limits);
  const std::string instance = host.meter().report()->instance_id;
  for (int i = 0; i < 400; ++i) {
    const bool is_killed = roll(5) == 0;
    const std::string unit =
        "/s" + std::to_string(roll(3)) + ".slice/u" + std::to_string(roll(4)) + ".service";
    if (!usage.contains(unit)) {
      host.files.add_cgroup(unit, 0);
      usage[unit] = 0;
    } else if (roll(4) == 0 && !is_killed) {  // else it might have ended at any time until the next run
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
    if (!is_killed) {
      step();
      if (roll(7) == 0) keeper->save(host.meter().state(), false);
    } else {
      host.pass(std::chrono::seconds(1 + roll(20)));
      const std::filesystem::path in_the_way = directory / "ledger.json.new";
      if (roll(2) == 0) std::filesystem::create_directory(in_the_way);
      begin();
      std::filesystem::remove(in_the_way);
      EXPECT_EQ(host.meter().report()->instance_id, instance);
    }
    whole.expect_same(host.view(), limits);
  }
}

}  // namespace
}  // namespace keplerd
