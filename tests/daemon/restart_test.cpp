// SPDX-License-Identifier: Apache-2.0
// What survives the end of a run: state files, and the counters that continue meanwhile.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "daemon/meter_host.h"
#include "daemon/state_keeper.h"
#include "ledger/state_file.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class Restart : public testing::Test {
 protected:
  Restart() {
    host.files.write("proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n");
    host.files.add_cgroup("/a.service", 0);
    directory = std::filesystem::temp_directory_path() / ("keplerd-restart-" + std::to_string(::getpid()));
    std::filesystem::create_directory(directory);
  }
  ~Restart() override { std::filesystem::remove_all(directory); }

  StateKeeper keeper() {
    return StateKeeper(host.files.open(), StateDirectory{directory, nullptr}, EnergySettings{});
  }
  // A run that gives 10 J to /a.service, 10 J to idle.
  void first_run(bool clean) {
    auto restored = keeper().restore(Realtime(5));
    host.begin({}, std::move(restored.ledger), restored.readings);
    host.draw(20'000'000);
    host.files.set_cgroup_usage("/a.service", 100'000);
    host.step();
    instance = host.meter().report()->instance_id;
    keeper().save(host.meter().state(), clean);
  }
  const Report& second_run() {
    auto restored = keeper().restore(Realtime(99));
    return host.begin({}, std::move(restored.ledger), restored.readings);
  }

  MeterHost host;
  std::filesystem::path directory;
  std::string instance;
};

TEST_F(Restart, TotalsGoOnAndWhatWasDrawnMeanwhileIsUnattributed) {
  first_run(true);
  host.draw(3'000'000);
  host.now.monotonic += 5s;
  host.now.boottime += 5s;
  const Report& report = second_run();
  EXPECT_EQ(report.host.energy.value, 23'000'000);
  EXPECT_EQ(report.accounts.idle.value, 10'000'000);
  EXPECT_EQ(report.accounts.unattributed.value, 3'000'000);
  EXPECT_EQ(report.accounts.workloads.value, 10'000'000);
  EXPECT_EQ(report.instance_id, instance);
  EXPECT_EQ(report.since, Realtime(5));
  EXPECT_EQ(host.unit("/a.service").active.value, 10'000'000);
  EXPECT_EQ(host.unit("/a.service").cpu, 100ms);
  EXPECT_FALSE(report.host.power.has_value());

  host.draw(20'000'000);
  host.files.set_cgroup_usage("/a.service", 300'000);
  host.step();
  EXPECT_EQ(host.unit("/a.service").active.value, 20'000'000);
  EXPECT_EQ(host.unit("/a.service").cpu, 300ms);
}

TEST_F(Restart, AfterACrashANewInstanceIdMarksThatCountersMayHaveGoneBack) {
  first_run(false);
  const Report& report = second_run();
  EXPECT_NE(report.instance_id, instance);
  EXPECT_EQ(report.host.energy.value, 20'000'000);
}

TEST_F(Restart, WhatWasCountedBeforeAnotherInstanceIdIsKeptApart) {
  first_run(false);
  {
    const Report& second = second_run();
    ASSERT_TRUE(second.earlier);
    EXPECT_EQ(second.earlier->energy.value, 20'000'000);
    EXPECT_EQ(second.earlier->idle.value, 10'000'000);
    EXPECT_EQ(second.earlier->accounts.workloads.value, 10'000'000);
    ASSERT_TRUE(second.zones[0].earlier);
    EXPECT_EQ(second.zones[0].earlier->energy.value, 20'000'000);
    EXPECT_EQ(second.zones[0].earlier->idle.value, 10'000'000);
    EXPECT_EQ(host.unit("/a.service").earlier_energy->value, 10'000'000);
    EXPECT_EQ(host.unit("/a.service").earlier->cpu, 100ms);
    instance = second.instance_id;
  }
  host.draw(20'000'000);
  host.files.add_cgroup("/b.service", 0);
  host.step();
  host.draw(20'000'000);
  host.files.set_cgroup_usage("/a.service", 300'000);
  host.files.set_cgroup_usage("/b.service", 200'000);
  host.step();
  keeper().save(host.meter().state(), true);
  const Report& third = second_run();
  EXPECT_EQ(third.instance_id, instance);
  ASSERT_TRUE(third.earlier);
  EXPECT_EQ(third.earlier->energy.value, 20'000'000);
  EXPECT_EQ(third.host.energy.value, 60'000'000);
  EXPECT_EQ(host.unit("/a.service").earlier_energy->value, 10'000'000);
  EXPECT_FALSE(host.unit("/b.service").earlier_energy) << "it began under this instance id";
}

TEST_F(Restart, AnInstanceIdThatIsTheFirstHasNothingEarlier) {
  first_run(true);
  EXPECT_FALSE(second_run().earlier);
  EXPECT_FALSE(host.unit("/a.service").earlier_energy);
}

TEST_F(Restart, EarlierTotalsThatCannotBeReadBeginAnotherInstanceId) {
  first_run(false);
  instance = second_run().instance_id;
  host.step();
  keeper().save(host.meter().state(), true);
  std::ofstream(directory / "ledger-earlier.json") << "{";
  const Report& third = second_run();
  EXPECT_NE(third.instance_id, instance);
  EXPECT_EQ(third.earlier->energy.value, third.host.energy.value);
}

TEST_F(Restart, AfterARebootTheCountersMeanNothingButTotalsGoOn) {
  first_run(true);
  host.files.write("proc/sys/kernel/random/boot_id", "another\n");
  host.draw(-20'000'000 + 700'000);
  const Report& report = second_run();
  EXPECT_EQ(report.host.energy.value, 20'000'000);
  EXPECT_EQ(report.discarded_windows, 0u);
  EXPECT_EQ(host.unit("/a.service").active.value, 10'000'000);
}

TEST_F(Restart, MeanwhileSoLongThatTheCounterMayHaveWrappedTwiceIsNotCounted) {
  first_run(true);
  host.draw(1'000'000);
  host.now.monotonic += 10min;
  host.now.boottime += 10min;
  const Report& report = second_run();
  EXPECT_EQ(report.host.energy.value, 20'000'000);
  EXPECT_EQ(report.accounts.unattributed.value, 0);
}

TEST_F(Restart, AUnitThatIsGoneByThenIsTerminated) {
  first_run(true);
  host.files.remove_cgroup("/a.service");
  second_run();
  EXPECT_FALSE(host.unit("/a.service").running);
  EXPECT_EQ(host.unit("/a.service").active.value, 10'000'000);
}

TEST_F(Restart, ProcessesBeginAnewAndTheirEnergyStaysInTheirUnit) {
  host.files.add_process({.pid = 10, .cgroup = "/a.service"});
  auto restored = keeper().restore(Realtime(5));
  host.begin({}, std::move(restored.ledger), restored.readings);
  host.draw(20'000'000);
  host.files.set_cgroup_usage("/a.service", 100'000);
  host.files.set_process_time(10, 10);
  host.step();
  EXPECT_EQ(host.process(10)->active.value, 10'000'000);
  keeper().save(host.meter().state(), true);
  second_run();
  EXPECT_EQ(host.process(10)->active.value, 0);
  EXPECT_EQ(host.unit("/a.service").other.value, 10'000'000);
}

// Successive runs on one state directory.
TEST_F(Restart, UnmeasuredEnergyNeverEntersMeasuredTotals) {
  first_run(true);
  for (const char* source : {"simulated", "estimated"}) {
    StateKeeper own(host.files.open(), StateDirectory{directory, nullptr}, EnergySettings{.source = source});
    for (const std::int64_t before : {0, 20'000'000}) {
      auto restored = own.restore(Realtime(99));
      const SourceChoice choice{
          .source = source, .idle_power = Microwatts{20'000'000}, .max_power = Microwatts{20'000'000}};
      const auto total = host.begin(choice, std::move(restored.ledger), restored.readings).host.energy.value;
      EXPECT_EQ(total > 0, before > 0) << source;
      host.step();
      own.save(host.meter().state(), true);
    }
  }
  EXPECT_EQ(second_run().host.energy.value, 20'000'000);
  EXPECT_EQ(host.meter().report()->workload_quality, Quality::kAttributed);
}

// A valid state with these zones and containers only.
std::string state_with(const std::string& zones, const std::string& containers) {
  return R"({"version":1,"instanceId":"i","sinceUsec":1,"savedUsec":1,"clean":true,"bootId":"b",)"
         R"("discardedWindows":0,"outsideOtherMicrojoules":0,"units":[],"readings":[],"zones":[)" +
         zones + R"(],"containers":)" + containers + "}";
}

// This many, each of 2^60 microjoules, not attributed to anything.
std::string huge_zones(int count) {
  std::string zones;
  for (int i = 0; i < count; ++i) {
    zones += (i == 0 ? "" : ",") + (R"({"id":"z)" + std::to_string(i)) +
             R"(","name":"package","index":0,"quality":"measured","inTotal":true,"idleMicrojoules":0,)"
             R"("energyMicrojoules":1152921504606846976,"kernelMicrojoules":0,"unattributedMicrojoules":0,)"
             R"("sinceUsec":1})";
  }
  return zones;
}

constexpr int kDeep = 200'000;

class CorruptState : public Restart, public testing::WithParamInterface<std::string> {};

TEST_P(CorruptState, IsSetAsideWithAReasonAndCountingStartsAnew) {
  first_run(true);
  const std::string path = directory / "ledger.json";
  std::ofstream(path) << GetParam();
  const auto loaded = load_state(path);
  ASSERT_TRUE(loaded.ok());
  EXPECT_FALSE(loaded->state.has_value());
  ASSERT_TRUE(loaded->warning.has_value());
  EXPECT_NE(loaded->warning->find(path), std::string::npos) << *loaded->warning;
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::exists(path + ".corrupt"));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, CorruptState,
    testing::Values(
        "", "{", "[]", "null", "\x01\x02", R"({"version":2})", R"({"version":1})",
        // Sums that do not hold: the zone gave 5 to workloads, no unit has them.
        R"({"version":1,"instanceId":"i","sinceUsec":1,"savedUsec":1,"clean":true,"bootId":"b",)"
        R"("discardedWindows":0,"outsideOtherMicrojoules":0,"zones":[{"id":"z","name":"package",)"
        R"("index":0,"quality":"measured","inTotal":true,"energyMicrojoules":5,"idleMicrojoules":0,)"
        R"("kernelMicrojoules":0,"unattributedMicrojoules":0,"sinceUsec":1}],"units":[],"readings":[]})",
        std::string(kDeep, '['),
        // Freed and copied recursively.
        state_with("", std::string(kDeep, '[') + std::string(kDeep, ']')),
        // Sums that are out of range.
        state_with(huge_zones(8), "[]"), state_with(huge_zones(16), "[]")));

TEST_F(Restart, AnUnreadableStateFileIsNotWrittenOver) {
  std::filesystem::create_directory(directory /
                                    "ledger.json");  // reading fails for a reason other than absence
  StateKeeper keeper(host.files.open(), StateDirectory{directory, nullptr}, EnergySettings{});
  auto restored = keeper.restore(Realtime(5));
  host.begin({}, std::move(restored.ledger), restored.readings);
  keeper.save(host.meter().state(), true);
  EXPECT_FALSE(std::filesystem::exists(directory / "ledger.json.new"));
}

TEST_F(Restart, TheStateOfThousandsOfUnitsReadsBackTheSame) {
  for (int i = 0; i < 2000; ++i) host.files.add_cgroup("/s.slice/unit-" + std::to_string(i) + ".service", 0);
  host.begin();
  host.draw(123'456'789, 1'000'003);
  for (int i = 0; i < 2000; ++i)
    host.files.set_cgroup_usage("/s.slice/unit-" + std::to_string(i) + ".service", i);
  host.files.set_cgroup_usage("/s.slice", 1999 * 1000);
  host.step();
  LedgerState state = host.meter().state();
  const auto parsed = parse_state(format_state(state));
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(format_state(*parsed), format_state(state));
}

}  // namespace
}  // namespace keplerd
