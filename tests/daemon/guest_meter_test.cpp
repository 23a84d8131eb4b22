// SPDX-License-Identifier: Apache-2.0
// keplerd in a virtual machine, with the meter that its host shares with it: it moves every ten seconds, and
// each window ends with one of its steps.
#include <gtest/gtest.h>

#include "daemon/meter_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class MeterInAGuest : public testing::Test {
 protected:
  MeterInAGuest() {
    for (const std::string group : {"/a.service", "/b.service"}) host.files.add_cgroup(group);
    add("intel-rapl:0", "package-0");
  }
  void add(const std::string& directory, const std::string& name) {
    host.files.write(path(directory, "name"), name + "\n");
    host.files.write(path(directory, "max_energy_range_uj"), "9223372036854775807\n");
    set(directory, 0);
  }
  static std::string path(const std::string& directory, const std::string& file) {
    return "root/run/keplerd-meter/" + directory + "/" + file;
  }
  void set(const std::string& directory, std::int64_t joules) {
    host.files.write(path(directory, "energy_uj"), std::to_string(joules * 1'000'000) + "\n");
  }
  const Report& begin() { return host.begin({.source = "guest"}); }
  void use(const std::string& group, std::int64_t milliseconds) {
    host.files.set_cgroup_usage(group, (used[group] += milliseconds) * 1000);
  }
  std::int64_t active(const std::string& group) { return host.unit(group).active.value; }

  MeterHost host;
  std::map<std::string, std::int64_t> used;
};

TEST_F(MeterInAGuest, ItsStepIsDividedByTheCpuTimeOfTheWholeStep) {
  const Report& first = begin();
  EXPECT_EQ(first.source.name, "guest");
  EXPECT_EQ(first.source.quality, Quality::kAttributed);
  for (int second = 0; second < 9; ++second) {
    use("/a.service", 300);
    EXPECT_EQ(host.step().sequence, 1U) << "no report while it stands still";
  }
  use("/b.service", 900);
  set("intel-rapl:0", 40);
  const Report& report = host.step();
  EXPECT_EQ(report.sequence, 2U);
  EXPECT_EQ(report.window, 10s);
  EXPECT_EQ(report.host.energy.value, 40'000'000);
  EXPECT_EQ(report.host.power->value, 4'000'000);
  // Half is idle; of the rest a had 2.7 s and b 0.9 s.
  EXPECT_EQ(active("/a.service"), 15'000'000);
  EXPECT_EQ(active("/b.service"), 5'000'000);
  EXPECT_EQ(host.unit("/a.service").cpu, 2700ms);
  EXPECT_EQ(report.workload_quality, Quality::kAttributed);
}

TEST_F(MeterInAGuest, WhereItStandsStillAWindowEndsAfterThirtySeconds) {
  begin();
  for (int second = 1; second < 30; ++second) EXPECT_EQ(host.step().sequence, 1U);
  EXPECT_EQ(host.step().sequence, 2U);
  EXPECT_EQ(host.meter().report()->host.power->value, 0);
  for (int second = 1; second < 30; ++second) EXPECT_EQ(host.step().sequence, 2U);
  EXPECT_EQ(host.step().sequence, 3U);
}

TEST_F(MeterInAGuest, AStepThatIsSeenInPartIsAwaitedOnce) {
  add("intel-rapl:0:0", "dram");
  begin();
  set("intel-rapl:0", 10);
  EXPECT_EQ(host.step().sequence, 1U);
  set("intel-rapl:0:0", 2);
  EXPECT_EQ(host.step().sequence, 2U);
  EXPECT_EQ(host.meter().report()->host.energy.value, 12'000'000);
  // Memory has nothing to report this time.
  set("intel-rapl:0", 20);
  EXPECT_EQ(host.step().sequence, 2U);
  EXPECT_EQ(host.step().sequence, 3U);
  EXPECT_EQ(host.meter().report()->host.energy.value, 22'000'000);
  EXPECT_EQ(host.step().sequence, 3U);
}

TEST_F(MeterInAGuest, ACounterThatBecomesUnreadableIsReportedAtOnce) {
  begin();
  host.files.break_file(path("intel-rapl:0", "energy_uj"));
  EXPECT_EQ(host.step().sequence, 2U);
  EXPECT_TRUE(host.meter().report()->zones[0].problem.has_value());
  set("intel-rapl:0", 5);
  EXPECT_EQ(host.step().sequence, 3U);
  EXPECT_EQ(host.meter().report()->host.energy.value, 5'000'000);
}

TEST_F(MeterInAGuest, AnyOtherMeterIsReportedEachTime) {
  host.begin({.source = "powercap"});
  for (std::uint64_t sequence = 2; sequence < 5; ++sequence) EXPECT_EQ(host.step().sequence, sequence);
}

TEST_F(MeterInAGuest, ACounterThatIsResetCostsItsWindowOnly) {
  begin();
  set("intel-rapl:0", 50);
  host.step();
  set("intel-rapl:0", 3);
  EXPECT_EQ(host.step().host.energy.value, 50'000'000);
  EXPECT_EQ(host.meter().report()->discarded_windows, 1U);
  set("intel-rapl:0", 4);
  EXPECT_EQ(host.step().host.energy.value, 51'000'000);
}

}  // namespace
}  // namespace keplerd
