// SPDX-License-Identifier: Apache-2.0
// Which meter is in use, and what switching costs.
#include <cerrno>

#include <gtest/gtest.h>

#include "daemon/meter_host.h"
#include "support/fake_hwmon.h"
#include "support/fake_perf.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

const ZoneRow* find_zone(const Report& report, const std::string& id) {
  for (const ZoneRow& zone : report.zones) {
    if (zone.zone.id == id) return &zone;
  }
  return nullptr;
}

// A host whose only package draws 10 W according to powercap and, if it has events, perf.
class MeterSources : public ::testing::Test {
 protected:
  MeterSources() {
    FakePerf::add_pmu(host_.files, "0");
    FakePerf::add_cpu(host_.files, 0, 0);
    FakePerf::add_event(host_.files, "energy-pkg", FakePerf::kPackage);
  }
  const Report& begin() { return host_.begin({.open_perf_counter = perf_.opener()}); }
  const Report& step(Nanoseconds time = 1s) {
    const auto joules = time / 100ms;
    host_.draw(joules * 1'000'000);
    perf_.draw(0, FakePerf::kPackage, joules);
    return host_.step(time);
  }

  MeterHost host_;
  FakePerf perf_;
};

TEST_F(MeterSources, PerfIsTakenBeforePowercap) {
  EXPECT_EQ(begin().source.name, "perf");
  const Report& report = step();
  EXPECT_EQ(report.host.energy.value, 10'000'000);
  EXPECT_EQ(report.source.quality, Quality::kMeasured);
  EXPECT_EQ(find_zone(report, "powercap:package:0"), nullptr);
}

TEST_F(MeterSources, OneThatDiesHandsOverWithinThreeSeconds) {
  begin();
  step();
  perf_.read_error = EIO;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(step().source.name, "perf");
  EXPECT_EQ(step().source.name, "powercap") << "its first reading is the baseline";
  const Report& report = step();
  EXPECT_EQ(report.host.energy.value, 20'000'000);
  EXPECT_EQ(report.host.power->value, 10'000'000);
  ASSERT_NE(find_zone(report, "perf:package:0"), nullptr);
  EXPECT_FALSE(find_zone(report, "perf:package:0")->current);
  EXPECT_EQ(find_zone(report, "perf:package:0")->energy.value, 10'000'000);
  EXPECT_TRUE(find_zone(report, "powercap:package:0")->current);
}

TEST_F(MeterSources, OneThatFailsForAMomentStays) {
  begin();
  for (int i = 0; i < 4; ++i) {
    perf_.read_error = EIO;
    step();
    step();
    perf_.read_error = 0;
    EXPECT_EQ(step().source.name, "perf");
  }
}

TEST_F(MeterSources, OneThatDiesWithoutAnotherStaysAndComesBack) {
  begin();
  perf_.read_error = EIO;
  host_.files.break_energy("intel-rapl:0");
  host_.files.break_energy("intel-rapl:0:0");
  for (int i = 0; i < 30; ++i) {
    const Report& report = host_.step();
    EXPECT_EQ(report.source.name, "perf");
    EXPECT_TRUE(report.zones[0].problem.has_value());
    EXPECT_FALSE(report.host.power.has_value()) << "no zero for what is not known";
  }
  perf_.read_error = 0;
  host_.step();
  perf_.draw(0, FakePerf::kPackage, 8);
  EXPECT_EQ(host_.step().host.energy.value, 8'000'000);
}

TEST_F(MeterSources, ABetterOneIsTakenWithinTenSeconds) {
  perf_.open_error = EACCES;
  EXPECT_EQ(begin().source.name, "powercap");
  EXPECT_EQ(step().source.name, "powercap");
  perf_.open_error = 0;  // the permission is granted
  for (int i = 2; i < 10; ++i) EXPECT_EQ(step().source.name, "powercap");
  EXPECT_EQ(step().source.name, "perf");
  EXPECT_EQ(step().host.energy.value, 100'000'000) << "eleven windows, less that of the change";
}

TEST_F(MeterSources, ABetterOneThatCannotBeReadIsNotTaken) {
  perf_.open_error = EACCES;
  begin();
  perf_.open_error = 0;
  perf_.read_error = EIO;
  for (int i = 0; i < 25; ++i) EXPECT_EQ(step().source.name, "powercap");
}

TEST_F(MeterSources, ChangingTenTimesLosesAtMostTheWindowsOfTheChanges) {
  begin();
  int windows = 0;
  std::string last = "perf";
  int changes = 0;
  std::int64_t failed = 0;
  for (int round = 0; round < 5; ++round) {
    for (const int error : {EIO, 0}) {
      perf_.read_error = perf_.open_error = error;
      for (int i = 0; i < 12; ++i) {
        const Report& report = step();
        ++windows;
        if (report.source.name != last) ++changes;
        last = report.source.name;
        if (last == "perf" && error != 0) ++failed;
      }
    }
  }
  EXPECT_EQ(changes, 10);
  EXPECT_EQ(failed, 5 * 3) << "windows in which the dying meter told nothing";
  EXPECT_EQ(step().host.energy.value, (windows + 1 - changes - failed) * 10'000'000);
}

TEST_F(MeterSources, AMeterThatIsForcedStays) {
  host_.begin({.source = "powercap", .open_perf_counter = perf_.opener()});
  for (int i = 0; i < 12; ++i) EXPECT_EQ(step().source.name, "powercap");
  EXPECT_TRUE(perf_.opened.empty());
}

TEST_F(MeterSources, AnotherChoiceTakesEffectWithTheNextSample) {
  begin();
  step();
  host_.meter().set_source({.source = "powercap", .open_perf_counter = perf_.opener()});
  EXPECT_EQ(step().source.name, "powercap") << "its first reading is the baseline";
  const Report& report = step();
  EXPECT_EQ(report.host.energy.value, 20'000'000);
  EXPECT_EQ(find_zone(report, "perf:package:0")->energy.value, 10'000'000);
  EXPECT_FALSE(find_zone(report, "perf:package:0")->current);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(step().source.name, "powercap") << "a better one is not chosen";
}

TEST_F(MeterSources, ZonesThatRemainChosenLoseNothing) {
  host_.begin({.source = "powercap"});
  host_.draw(10'000'000, 4'000'000);
  host_.step();
  host_.meter().set_source({.source = "powercap", .zones = {"package"}});
  host_.draw(10'000'000, 4'000'000);
  const Report& report = host_.step();
  EXPECT_EQ(find_zone(report, "powercap:package:0")->energy.value, 20'000'000);
  EXPECT_EQ(find_zone(report, "powercap:dram:0")->energy.value, 4'000'000);
  EXPECT_FALSE(find_zone(report, "powercap:dram:0")->current);
  EXPECT_EQ(report.host.power->value, 10'000'000);
}

TEST_F(MeterSources, AChoiceThatIsNotThereHasAReasonAndNoPowerAndCanBeChangedBack) {
  begin();
  step();
  host_.meter().set_source({.source = "guest"});
  const Report& without = step();
  EXPECT_EQ(without.source.name, "none");
  EXPECT_TRUE(without.source.reason);
  EXPECT_FALSE(without.host.power);
  EXPECT_EQ(without.host.energy.value, 10'000'000);
  host_.meter().set_source({.open_perf_counter = perf_.opener()});
  EXPECT_EQ(step().source.name, "perf");
  EXPECT_EQ(step().host.power->value, 10'000'000);
}

TEST_F(MeterSources, ReadingsOfCountersThatBeginAnewAreNotSaved) {
  begin();
  step();
  EXPECT_TRUE(host_.meter().state().readings.empty());
}

TEST_F(MeterSources, LessMetersLookIsCheap) {
  perf_.open_error = EACCES;
  begin();
  for (int i = 0; i < 9; ++i) step();
  EXPECT_EQ(perf_.open_counters, 0);
}

TEST(MeterZones, AZoneThatAppearsIsTakenAndTheOthersGoOn) {
  MeterHost host;
  host.files.remove_powercap_zone("intel-rapl:0:0");
  host.begin();
  host.draw(0, 0);  // writes the DRAM's file
  host.files.add_powercap_zone({.dir = "intel-rapl:0:0", .name = "dram"});
  for (int i = 0; i < 10; ++i) {
    host.draw(5'000'000, 1'000'000);
    host.step();
  }
  host.draw(5'000'000, 1'000'000);
  const Report& report = host.step();
  EXPECT_EQ(find_zone(report, "powercap:package:0")->energy.value, 55'000'000) << "no window is lost";
  EXPECT_EQ(find_zone(report, "powercap:dram:0")->energy.value, 1'000'000) << "since it was found";
}

class MeterBeside : public ::testing::Test {
 protected:
  MeterBeside() {
    host_.files.add_cgroup("/a.service", 0);
    add_hwmon(host_.files, 0, "i915", "pci/0000:04:00.0", {{"energy1_input", "1000"}});
  }
  MeterHost host_;
};

TEST_F(MeterBeside, ACardIsShownAndNotDivided) {
  host_.begin();
  host_.draw(10'000'000);
  host_.files.set_cgroup_usage("/a.service", 100'000);
  host_.files.write(hwmon_file(0, "energy1_input"), "50001000\n");
  const Report& report = host_.step();
  EXPECT_EQ(report.source.name, "powercap");
  EXPECT_EQ(report.host.energy.value, 10'000'000);
  const ZoneRow* card = find_zone(report, "i915:gpu:0");
  ASSERT_NE(card, nullptr);
  EXPECT_EQ(card->energy.value, 50'000'000);
  EXPECT_EQ(card->power->value, 50'000'000);
  EXPECT_FALSE(card->zone.in_total);
  const auto index = static_cast<std::size_t>(card - report.zones.data());
  EXPECT_EQ(host_.unit("/a.service").zones[index].energy.value, 0);
  EXPECT_EQ(host_.unit("/a.service").active.value, 5'000'000);
}

TEST_F(MeterBeside, OneThatAppearsCostsTheMeterNothing) {
  host_.begin();
  add_hwmon(host_.files, 1, "ina226", "i2c-1/1-0040", {{"power1_input", "4000000"}});
  for (int i = 0; i < 11; ++i) {
    host_.draw(10'000'000);
    host_.step();
  }
  host_.draw(10'000'000);
  const Report& report = host_.step();
  EXPECT_EQ(report.host.energy.value, 120'000'000);
  EXPECT_EQ(find_zone(report, "ina:rail:0")->energy.value, 8'000'000);
}

TEST_F(MeterBeside, IsShownEvenWithoutAMeter) {
  host_.files.remove_powercap_zone("intel-rapl:0");
  host_.begin();
  host_.files.write(hwmon_file(0, "energy1_input"), "3000000\n");
  const Report& report = host_.step();
  EXPECT_EQ(report.source.name, "none");
  EXPECT_TRUE(report.source.reason.has_value());
  EXPECT_FALSE(report.host.power.has_value());
  EXPECT_EQ(find_zone(report, "i915:gpu:0")->energy.value, 2'999'000);
}

TEST_F(MeterBeside, NotBesideInventedNumbers) {
  EXPECT_EQ(host_.begin({.source = "simulated"}).zones.size(), 1u);
}

}  // namespace
}  // namespace keplerd
