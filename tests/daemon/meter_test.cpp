// SPDX-License-Identifier: Apache-2.0
// From files to report: the whole flow on a written host.
#include "daemon/meter.h"

#include <gtest/gtest.h>

#include "daemon/meter_host.h"
#include "daemon/report_checks.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

TEST(Meter, TheFirstSampleIsABaselineWithoutEnergy) {
  MeterHost host;
  host.files.add_cgroup("/a.service", 5'000'000);
  host.draw(77'000'000, 5);
  const Report& report = host.begin();
  EXPECT_EQ(report.sequence, 1u);
  EXPECT_EQ(report.host.energy.value, 0);
  EXPECT_FALSE(report.host.power.has_value());
  EXPECT_EQ(report.source.name, "powercap");
  EXPECT_EQ(report.source.quality, Quality::kMeasured);
  EXPECT_EQ(host.unit("/a.service").cpu, 0s);
}

TEST(Meter, DividesAWindowAmongUnitsAndProcesses) {
  MeterHost host;
  host.files.add_cgroup("/system.slice/a.service", 1'000'000);
  host.files.add_cgroup("/system.slice/b.service", 0);
  host.files.set_cgroup_usage("/system.slice", 1'000'000);
  host.files.add_process({.pid = 10, .comm = "worker", .utime = 50, .cgroup = "/system.slice/a.service"});
  host.begin();

  host.draw(40'000'000, 2'000'000);
  host.files.set_cgroup_usage("/system.slice", 1'400'000);
  host.files.set_cgroup_usage("/system.slice/a.service", 1'300'000);
  host.files.set_cgroup_usage("/system.slice/b.service", 100'000);
  host.files.set_process_time(10, 70);  // 200 of 300 ms: the rest belongs to short-lived processes
  const Report& report = host.step();

  EXPECT_EQ(report.host.energy.value, 42'000'000);
  EXPECT_EQ(report.host.power->value, 42'000'000);
  EXPECT_EQ(report.accounts.idle.value, 21'000'000);
  EXPECT_EQ(report.accounts.workloads.value, 21'000'000);
  EXPECT_EQ(host.unit("/system.slice").active.value, 21'000'000);
  EXPECT_EQ(host.unit("/system.slice").own.value, 0);
  EXPECT_EQ(host.unit("/system.slice/a.service").active.value, 15'750'000);
  EXPECT_EQ(host.unit("/system.slice/a.service").other.value, 5'250'000);
  EXPECT_EQ(host.unit("/system.slice/a.service").cpu, 300ms);
  EXPECT_EQ(host.unit("/system.slice/b.service").active.value, 5'250'000);
  ASSERT_NE(host.process(10), nullptr);
  EXPECT_EQ(host.process(10)->active.value, 10'500'000);
  EXPECT_EQ(host.process(10)->power->value, 10'500'000);
  EXPECT_EQ(host.process(10)->unit->id, "/system.slice/a.service");
  EXPECT_EQ(host.process(10)->info->comm, "worker");
}

// Everything is idle.
class IdleModel final : public Model {
 public:
  void begin(const UsageSample& usage, const Contenders& contenders) override {
    contenders_.assign(contenders.size(), 0);
    process_.assign(usage.processes.size(), 0);
    other_.assign(usage.groups.size(), 0);
  }
  std::optional<Weighing> weigh(const DrawnEnergy& drawn) override {
    return Weighing{.idle = drawn.energy, .contenders = contenders_, .process = process_, .other = other_};
  }

 private:
  std::vector<std::int64_t> contenders_, process_, other_;
};

TEST(Meter, DividesByTheModelThatItWasGivenLast) {
  MeterHost host;
  host.files.add_cgroup("/a.service", 0);
  host.begin();
  host.draw(40'000'000);
  host.files.set_cgroup_usage("/a.service", 300'000);
  EXPECT_EQ(host.step().accounts.idle.value, 20'000'000);
  host.meter().set_model(std::make_unique<IdleModel>());
  host.draw(60'000'000);
  host.files.set_cgroup_usage("/a.service", 600'000);
  const Report& report = host.step();
  EXPECT_EQ(report.host.energy.value, 100'000'000) << "the counters go on";
  EXPECT_EQ(report.accounts.idle.value, 20'000'000 + 60'000'000);
  EXPECT_EQ(host.unit("/a.service").active.value, 20'000'000);
}

TEST(Meter, PowerIsEnergyOverTheTimeThatPassedNotTheIntervalThatWasMeant) {
  MeterHost host;
  host.begin();
  host.draw(10'000'000);
  EXPECT_EQ(host.step(2500ms).host.power->value, 4'000'000);
}

TEST(Meter, PowerOfAWindowShorterThan50MillisecondsIsAbsent) {
  MeterHost host;
  host.files.add_cgroup("/a.service", 0);
  host.begin();
  host.draw(1000);
  EXPECT_FALSE(host.step(49ms).host.power.has_value());
  EXPECT_FALSE(host.unit("/a.service").power.has_value());
  EXPECT_TRUE(host.step(50ms).host.power.has_value());
}

TEST(Meter, AZoneThatFailsCostsItsOwnReadingAndItsEnergyIsCountedWhenItReturns) {
  MeterHost host;
  host.files.add_cgroup("/a.service", 0);
  host.begin();
  for (int usage = 1; usage <= 3; ++usage) {
    host.draw(10'000'000, 1'000'000);
    host.files.break_energy("intel-rapl:0");
    host.files.set_cgroup_usage("/a.service", usage * 100'000);
    const Report& report = host.step();
    EXPECT_EQ(report.host.energy.value, usage * 1'000'000);
    EXPECT_FALSE(report.host.power.has_value()) << "a part of the total is not known";
    ASSERT_TRUE(report.zones[0].problem.has_value());
    EXPECT_TRUE(report.zones[1].power.has_value());
  }
  host.draw(10'000'000, 1'000'000);
  host.files.set_cgroup_usage("/a.service", 400'000);
  const Report& report = host.step();
  EXPECT_EQ(report.host.energy.value, 44'000'000);
  EXPECT_EQ(report.zones[0].power->value, 10'000'000) << "over the four seconds since it was read";
  EXPECT_EQ(report.accounts.unattributed.value, 0);
  EXPECT_FALSE(report.zones[0].problem.has_value());
}

TEST(Meter, AResetIsNotCountedButReported) {
  MeterHost host;
  host.begin();
  host.draw(100'000'000);
  host.step();
  host.draw(-99'000'000);
  const Report& report = host.step();
  EXPECT_EQ(report.host.energy.value, 100'000'000);
  EXPECT_EQ(report.discarded_windows, 1u);
  EXPECT_FALSE(report.host.power.has_value());
  host.draw(1'000'000);
  EXPECT_EQ(host.step().host.energy.value, 101'000'000);
}

TEST(Meter, EnergyAcrossASuspendIsNotCounted) {
  MeterHost host;
  host.begin();
  host.draw(50'000'000, 5'000'000);
  host.now.boottime += 1h;
  const Report& report = host.step();
  EXPECT_EQ(report.host.energy.value, 0);
  EXPECT_EQ(report.discarded_windows, 2u);
  host.draw(1'000'000);
  EXPECT_EQ(host.step().host.energy.value, 1'000'000);
}

TEST(Meter, WithoutAMeterItSaysWhyAndTakesOneUpWhenItAppears) {
  MeterHost host;
  host.files.remove_powercap_zone("intel-rapl:0");
  host.files.add_cgroup("/a.service", 0);
  const Report& without = host.begin();
  EXPECT_EQ(without.source.name, "none");
  ASSERT_TRUE(without.source.reason.has_value());
  EXPECT_FALSE(without.host.power.has_value());

  host.files.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0", .energy = 500});
  EXPECT_EQ(host.step(9s).source.name, "none") << "it looks every ten seconds";
  EXPECT_EQ(host.step(1s).source.name, "powercap");
  host.files.set_energy("intel-rapl:0", 2'000'500);
  EXPECT_EQ(host.step().host.energy.value, 2'000'000);
}

TEST(Meter, AProcessKeepsItsEnergyWhenItMovesAndEachUnitKeepsWhatWasUsedInIt) {
  MeterHost host;
  host.files.add_cgroup("/a.service", 0);
  host.files.add_cgroup("/b.service", 0);
  host.files.add_process({.pid = 10, .cgroup = "/a.service"});
  host.begin();
  host.draw(20'000'000);
  host.files.set_cgroup_usage("/a.service", 100'000);
  host.files.set_process_time(10, 10);
  host.step();
  EXPECT_EQ(host.process(10)->active.value, 10'000'000);

  host.files.move_process(10, "/b.service");
  host.draw(20'000'000);
  host.files.set_cgroup_usage("/b.service", 100'000);
  host.files.set_process_time(10, 20);
  host.step();
  EXPECT_EQ(host.process(10)->active.value, 10'000'000) << "it was not in one group at both ends";
  EXPECT_EQ(host.process(10)->unit->id, "/b.service");
  EXPECT_EQ(host.process(10)->in_unit.value, 0);
  EXPECT_EQ(host.unit("/a.service").other.value, 10'000'000);
  EXPECT_EQ(host.unit("/b.service").other.value, 10'000'000);
}

TEST(Meter, AUnitThatIsRebornUnderItsNameGoesOnWithItsTotal) {
  MeterHost host;
  host.files.add_cgroup("/a.service", 0);
  host.begin();
  host.draw(20'000'000);
  host.files.set_cgroup_usage("/a.service", 700'000);
  host.step();
  host.files.remove_cgroup("/a.service");
  host.step();
  EXPECT_FALSE(host.unit("/a.service").running);
  host.files.add_cgroup("/a.service", 900'000);
  host.draw(20'000'000);
  host.step();
  EXPECT_TRUE(host.unit("/a.service").running);
  EXPECT_EQ(host.unit("/a.service").active.value, 20'000'000);
  EXPECT_EQ(host.unit("/a.service").cpu, 1600ms);
}

TEST(Meter, EnergyWithoutActivityIsUnattributed) {
  MeterHost host;
  host.files.add_cgroup("/a.service", 0);
  host.begin();
  host.draw(20'000'000);
  const Report& report = host.step();
  EXPECT_EQ(report.accounts.unattributed.value, 10'000'000);
  EXPECT_EQ(host.unit("/a.service").active.value, 0);
}

TEST(Meter, KernelThreadsAreTheKernelsAccountAndNoRow) {
  MeterHost host;
  host.files.add_process({.pid = 2, .comm = "kthreadd", .ppid = 0, .kernel_thread = true});
  host.files.add_process({.pid = 10, .comm = "shell"});
  host.begin();
  host.draw(20'000'000);
  host.files.set_process_time(2, 30);
  host.files.set_process_time(10, 10);
  const Report& report = host.step();
  EXPECT_EQ(report.accounts.kernel.value, 7'500'000);
  EXPECT_EQ(host.process(10)->active.value, 2'500'000);
  EXPECT_EQ(host.process(2), nullptr);
}

TEST(Meter, ASimulatedSourceIsSimulatedInEveryRow) {
  MeterHost host;
  host.files.add_process({.pid = 10});
  host.begin({.source = "simulated"});
  host.files.set_process_time(10, 50);
  const Report& report = host.step();
  EXPECT_EQ(report.source.quality, Quality::kSimulated);
  EXPECT_EQ(report.workload_quality, Quality::kSimulated);
  EXPECT_GT(report.host.energy.value, 0);
}

TEST(Meter, AnUnreadableProcStatKeepsTheLastReportAndLosesNothing) {
  MeterHost host;
  host.begin();
  host.draw(1'000'000);
  host.step();
  host.files.break_file("proc/stat");
  host.draw(1'000'000);
  EXPECT_EQ(host.meter().sample()->sequence, 2u);
  EXPECT_EQ(host.step().host.energy.value, 2'000'000);
}

TEST(Meter, ASourceThatAppearsWhereTheHostCannotBeReadWaitsForTheNextReport) {
  MeterHost host;
  host.files.remove_powercap_zone("intel-rapl:0");
  host.files.add_cgroup("/a.service", 0);
  host.files.add_process({.pid = 10, .cgroup = "/a.service"});
  host.begin();
  const auto wait = [&](Nanoseconds time) {
    host.now.monotonic += time;
    host.now.boottime += time;
  };
  wait(1s);
  host.meter().sample();
  wait(9s);
  host.files.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0", .energy = 500});
  host.files.break_file("proc/stat");
  EXPECT_EQ(host.meter().sample()->sequence, 2u);
  expect_sums({host.meter().report(), host.meter().processes()});
  EXPECT_EQ(host.step().zones.size(), 1u);
}

}  // namespace
}  // namespace keplerd
