// SPDX-License-Identifier: Apache-2.0
// Every fault of a counter, for each meter that can have it: no spike, no decrease, no false zero, and every
// report's sums hold (MeterHost checks them).
#include <cerrno>

#include <gtest/gtest.h>

#include "daemon/meter_host.h"
#include "support/fake_hwmon.h"
#include "support/fake_perf.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

enum class Meters { kPerf, kPowercap, kHwmonEnergy, kHwmonPower };

// One meter that draws 10 W.
class MeterFaults : public ::testing::TestWithParam<Meters> {
 protected:
  MeterFaults() {
    host_.files.remove_powercap_zone("intel-rapl:0");
    repair();
    FakePerf::add_cpu(host_.files, 0, 0);
    if (GetParam() == Meters::kPerf) {
      FakePerf::add_pmu(host_.files, "0");
      FakePerf::add_event(host_.files, "energy-pkg", FakePerf::kPackage);
    }
    host_.begin({.open_perf_counter = perf_.opener()});
  }

  const Report& step(Nanoseconds time = 1s) {
    joules_ += time / 100ms;
    if (!broken_) write();
    return host_.step(time);
  }

  void write() {
    if (GetParam() == Meters::kPerf)
      perf_.set_raw(0, FakePerf::kPackage, static_cast<std::uint64_t>(joules_) << 32);
    const auto microjoules = std::to_string(joules_ * 1'000'000) + "\n";
    if (GetParam() == Meters::kPowercap) host_.files.set_energy_text("intel-rapl:0", microjoules);
    if (GetParam() == Meters::kHwmonEnergy) host_.files.write(hwmon_file(0, "energy1_input"), microjoules);
  }

  // The meter can be read (again), whatever its counter's value.
  void repair() {
    broken_ = false;
    perf_.read_error = perf_.open_error = 0;
    if (GetParam() == Meters::kPowercap)
      host_.files.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0"});
    if (GetParam() == Meters::kHwmonEnergy) {
      add_hwmon(host_.files, 0, "amd_energy", "platform/a",
                {{"energy1_input", "0"}, {"energy1_label", "Esocket0"}});
    }
    if (GetParam() == Meters::kHwmonPower) {
      add_hwmon(host_.files, 0, "apm_xgene", "platform/a",
                {{"power1_input", "10000000"}, {"power1_label", "CPU power"}});
    }
    write();
  }

  void break_reading() {
    broken_ = true;
    perf_.read_error = EIO;
    if (GetParam() == Meters::kPowercap) host_.files.break_energy("intel-rapl:0");
    if (GetParam() == Meters::kHwmonEnergy) host_.files.break_file(hwmon_file(0, "energy1_input"));
    if (GetParam() == Meters::kHwmonPower) host_.files.break_file(hwmon_file(0, "power1_input"));
  }

  void vanish() {
    broken_ = true;
    perf_.read_error = perf_.open_error = ENODEV;
    if (GetParam() == Meters::kPowercap) host_.files.remove_powercap_zone("intel-rapl:0");
    host_.files.remove("sys/class/hwmon/hwmon0");
  }

  // Whatever has happened, the reported energy never exceeds what was really drawn.
  void expect_no_spike(const Report& report) {
    EXPECT_LE(report.host.energy.value, joules_ * 1'000'000);
    if (report.host.power) {
      EXPECT_LE(report.host.power->value, 10'000'000);
    }
  }

  MeterHost host_;
  FakePerf perf_;
  std::int64_t joules_ = 0;
  bool broken_ = false;
};

TEST_P(MeterFaults, WithoutFaultsReportsWhatWasDrawn) {
  for (int i = 1; i <= 5; ++i) {
    const Report& report = step();
    EXPECT_EQ(report.host.energy.value, i * 10'000'000);
    EXPECT_EQ(report.host.power->value, 10'000'000);
    EXPECT_EQ(report.discarded_windows, 0u);
  }
}

TEST_P(MeterFaults, FailedReadingsAreNeitherAZeroNorASpike) {
  step();
  break_reading();
  for (int i = 0; i < 6; ++i) {
    const Report& report = step();
    EXPECT_FALSE(report.host.power.has_value());
    EXPECT_EQ(report.host.energy.value, 10'000'000);
  }
  repair();
  expect_no_spike(step());
  for (int i = 0; i < 3; ++i) expect_no_spike(step());
  const std::int64_t before = host_.meter().report()->host.energy.value;
  EXPECT_EQ(step().host.energy.value, before + 10'000'000) << "counting goes on";
}

TEST_P(MeterFaults, OneThatVanishesAndComesBackGoesOn) {
  step();
  vanish();
  for (int i = 0; i < 15; ++i) EXPECT_FALSE(step().host.power.has_value());
  repair();
  for (int i = 0; i < 12; ++i) expect_no_spike(step());
  const std::int64_t before = host_.meter().report()->host.energy.value;
  EXPECT_EQ(step().host.energy.value, before + 10'000'000);
  EXPECT_EQ(host_.meter().report()->host.power->value, 10'000'000);
}

TEST_P(MeterFaults, NothingIsReportedAcrossASuspend) {
  step();
  host_.now.boottime += 1h;
  const Report& report = step();
  EXPECT_EQ(report.host.energy.value, 10'000'000);
  EXPECT_FALSE(report.host.power.has_value());
  EXPECT_EQ(report.discarded_windows, 1u);
  EXPECT_EQ(step().host.energy.value, 20'000'000);
}

TEST_P(MeterFaults, AStalledLoopLosesNothingUpToHalfAMinute) {
  step();
  const Report& report = step(30s);
  EXPECT_EQ(report.host.energy.value, 310'000'000);
  EXPECT_EQ(report.host.power->value, 10'000'000);
}

TEST_P(MeterFaults, AResetIsNotCountedAndCountedAsOne) {
  if (GetParam() == Meters::kHwmonPower) GTEST_SKIP() << "has no counter";
  for (int i = 0; i < 5; ++i) step();
  const std::int64_t drawn = joules_;
  joules_ = -9;  // and a second of it since then
  const Report& report = step();
  EXPECT_EQ(report.host.energy.value, drawn * 1'000'000);
  EXPECT_FALSE(report.host.power.has_value());
  EXPECT_EQ(report.discarded_windows, 1u);
  EXPECT_EQ(step().host.energy.value, (drawn + 10) * 1'000'000);
}

TEST_P(MeterFaults, AJumpThatNoMachineMakesIsNotCounted) {
  if (GetParam() == Meters::kHwmonPower) {
    step();
    host_.files.write(hwmon_file(0, "power1_input"), "90000000000\n");
    EXPECT_EQ(step().host.energy.value, 10'000'000);
    return;
  }
  step();
  joules_ += 200'000;
  const Report& report = step();
  EXPECT_EQ(report.host.energy.value, 10'000'000);
  EXPECT_EQ(report.discarded_windows, 1u);
  EXPECT_EQ(step().host.energy.value, 20'000'000);
}

INSTANTIATE_TEST_SUITE_P(Each, MeterFaults,
                         ::testing::Values(Meters::kPerf, Meters::kPowercap, Meters::kHwmonEnergy,
                                           Meters::kHwmonPower));

}  // namespace
}  // namespace keplerd
