// SPDX-License-Identifier: Apache-2.0
// Processors that are taken offline and come back: /proc/stat, the PMU's CPUs and packages' zones change
// underneath the daemon. There are no spikes, and every report's sums hold (MeterHost checks them).
#include <gtest/gtest.h>

#include "daemon/meter_host.h"
#include "support/fake_perf.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

TEST(CpuHotplug, IdleTimeThatGoesBackIsNotASpike) {
  // The kernel measures an offline CPU's idle time with another clock: the sum may drop by hours.
  MeterHost host;
  host.ticks.idle = 10'000'000;
  host.files.set_stat(host.ticks);
  host.files.add_cgroup("/a.service", 0);
  host.begin();
  int usage = 0;
  for (const std::int64_t jump : {-1'000'000, 0, +1'000'000, -50, +50}) {
    host.ticks.idle += jump;
    host.draw(10'000'000);
    host.files.set_cgroup_usage("/a.service", usage += 100'000);
    const Report& report = host.step();
    EXPECT_EQ(report.host.power->value, 10'000'000);
    EXPECT_GE(report.host.active_power->value, 0);
    EXPECT_LE(report.host.active_power->value, 10'000'000);
  }
  EXPECT_EQ(host.meter().report()->host.energy.value, 50'000'000);
}

TEST(CpuHotplug, BusyTimeThatGoesBackIsNotASpike) {
  MeterHost host;
  host.files.add_cgroup("/a.service", 0);
  host.begin();
  for (int i = 1; i <= 4; ++i) {
    host.ticks.user += i == 2 ? -900 : 0;
    host.draw(10'000'000);
    host.files.set_cgroup_usage("/a.service", i * 100'000);
    EXPECT_EQ(host.step().host.energy.value, i * 10'000'000);
  }
}

TEST(CpuHotplug, PerfFollowsItsPackageToAnotherCpu) {
  MeterHost host;
  FakePerf perf;
  FakePerf::add_pmu(host.files, "0");
  FakePerf::add_cpu(host.files, 0, 0);
  FakePerf::add_cpu(host.files, 1, 0);
  FakePerf::add_event(host.files, "energy-pkg", FakePerf::kPackage);
  host.begin({.open_perf_counter = perf.opener()});
  const auto step = [&](int cpu) -> const Report& {
    perf.draw(cpu, FakePerf::kPackage, 10);
    return host.step();
  };
  EXPECT_EQ(step(0).host.energy.value, 10'000'000);
  host.files.write(FakePerf::pmu("cpumask"), "1\n");
  const Report& moved = step(1);
  EXPECT_EQ(moved.source.name, "perf");
  EXPECT_EQ(moved.host.energy.value, 10'000'000) << "its counter begins anew";
  EXPECT_EQ(moved.discarded_windows, 1u);
  EXPECT_EQ(step(1).host.energy.value, 20'000'000);
  host.files.write(FakePerf::pmu("cpumask"), "0\n");
  step(0);
  EXPECT_EQ(step(0).host.energy.value, 30'000'000);
}

TEST(CpuHotplug, APackageThatIsOfflineCostsTheOtherNothing) {
  MeterHost host;
  host.files.add_powercap_zone({.dir = "intel-rapl:1", .name = "package-1"});
  host.begin();
  std::int64_t counter = 0;
  const auto step = [&](bool second_is_online) -> const Report& {
    host.draw(10'000'000);
    counter += 7'000'000;
    if (second_is_online) host.files.set_energy("intel-rapl:1", counter);
    return host.step();
  };
  EXPECT_EQ(step(true).host.energy.value, 17'000'000);
  host.files.remove_powercap_zone("intel-rapl:1");
  for (int i = 0; i < 12; ++i) {
    const Report& report = step(false);
    EXPECT_EQ(report.zones[0].power->value, 10'000'000);
    EXPECT_FALSE(report.host.power.has_value()) << "a part of it is not known";
    EXPECT_TRUE(report.zones[1].problem.has_value());
  }
  host.files.add_powercap_zone({.dir = "intel-rapl:1", .name = "package-1"});
  EXPECT_EQ(step(true).host.energy.value, 17'000'000 + 13 * 17'000'000);
  EXPECT_TRUE(step(true).host.power.has_value());
}

TEST(CpuHotplug, APackageWhoseCounterRestartsLosesOneWindow) {
  MeterHost host;
  host.files.add_powercap_zone({.dir = "intel-rapl:1", .name = "package-1"});
  host.begin();
  host.draw(10'000'000);
  host.files.set_energy("intel-rapl:1", 90'000'000);
  host.step();
  host.files.remove_powercap_zone("intel-rapl:1");
  host.step();
  host.files.add_powercap_zone({.dir = "intel-rapl:1", .name = "package-1", .energy = 5});
  const Report& report = host.step();
  EXPECT_EQ(report.host.energy.value, 100'000'000);
  EXPECT_EQ(report.discarded_windows, 1u);
  host.files.set_energy("intel-rapl:1", 1'000'005);
  EXPECT_EQ(host.step().host.energy.value, 101'000'000);
}

}  // namespace
}  // namespace keplerd
