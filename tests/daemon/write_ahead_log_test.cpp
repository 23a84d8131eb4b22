// SPDX-License-Identifier: Apache-2.0
// A run that is killed loses nothing: what it published is in the saved state and the write-ahead log.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "daemon/vm_host.h"
#include "daemon/write_ahead_host.h"
#include "ledger/state_file.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr char kContainer[] =
    "/docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope";

TEST_F(WriteAhead, AfterAKillEveryTotalGoesOnUnderTheSameInstance) {
  host.files.add_cgroup("/a.service", 0);
  host.files.add_cgroup(kContainer, 0);
  add_process("/a.service");
  begin();
  int a = 0, c = 0;
  work("/a.service", a);
  work(kContainer, c);
  work("/a.service", a);
  const std::string instance = host.meter().report()->instance_id;
  ASSERT_EQ(host.unit("/a.service").active.value, 20'000'000);
  const auto process = *host.process(10);
  ASSERT_GT(process.active.value, 0);

  begin();
  const Report& report = *host.meter().report();
  EXPECT_EQ(report.instance_id, instance);
  EXPECT_EQ(report.host.energy.value, 60'000'000);
  EXPECT_EQ(host.unit("/a.service").active.value, 20'000'000);
  EXPECT_EQ(host.unit("/a.service").cpu, 200ms);
  EXPECT_EQ(host.unit(kContainer).active.value, 10'000'000);
  ASSERT_EQ(report.containers.size(), 1u);
  EXPECT_EQ(report.containers[0].active.value, 10'000'000);
  EXPECT_EQ(host.process(10)->active, process.active);
  EXPECT_EQ(host.process(10)->in_unit, process.in_unit);
  EXPECT_EQ(host.process(10)->cpu, process.cpu);
  EXPECT_EQ(host.process(10)->since, process.since);
  work("/a.service", a);
  EXPECT_EQ(host.unit("/a.service").active.value, 30'000'000);
}

TEST_F(WriteAhead, AMachineContinuesWithItsPartsNameAndDetails) {
  add_vm_with_threads(host.files);
  begin();
  host.draw(20'000'000);
  for (const std::string& group : {std::string(kScope), kLibvirtGroup, kLibvirtGroup + "/vcpu0"})
    host.files.set_cgroup_usage(group, 100'000);
  step();
  const auto before = *host.vm(kUuid);
  ASSERT_EQ(before.active.value, 10'000'000);
  ASSERT_FALSE(before.parts.empty());
  const auto evidence = host.meter().ledger().vms().all().at(kUuid).evidence;
  ASSERT_EQ(evidence, VmEvidence::kScope);

  host.files.remove_process(20);
  host.files.remove_cgroup(kScope);
  begin();
  const auto after = *host.vm(kUuid);
  EXPECT_FALSE(after.running);
  EXPECT_EQ(after.active, before.active);
  EXPECT_EQ(after.parts, before.parts);
  EXPECT_EQ(after.info->name, "web");
  EXPECT_EQ(after.owner, before.owner);
  EXPECT_EQ(host.meter().ledger().vms().all().at(kUuid).evidence, evidence);
}

TEST_F(WriteAhead, ItIsGoneOnFromAfterEachOfManyKills) {
  host.files.add_cgroup("/a.service", 0);
  begin();
  const std::string instance = host.meter().report()->instance_id;
  int a = 0;
  for (int i = 1; i <= 20; ++i) {
    work("/a.service", a);
    begin();
    EXPECT_EQ(host.meter().report()->instance_id, instance);
    EXPECT_EQ(host.unit("/a.service").active.value, i * 10'000'000);
  }
}

TEST_F(WriteAhead, ASaveInBetweenChangesNothing) {
  host.files.add_cgroup("/a.service", 0);
  add_process("/a.service");
  begin();
  int a = 0;
  work("/a.service", a);
  const std::size_t before = log_text().size();
  keeper->save(host.meter().state(), false);
  EXPECT_LT(log_text().size(), before);
  const auto process = host.process(10)->active;  // which does not change any more
  host.files.set_cgroup_usage("/a.service", 150'000);
  host.draw(20'000'000);
  step();
  begin();
  EXPECT_EQ(host.unit("/a.service").active.value, 20'000'000);
  EXPECT_EQ(host.process(10)->active, process);
}

TEST_F(WriteAhead, WhereASaveFailedTheLogGoesOnFromTheOneBefore) {
  host.files.add_cgroup("/a.service", 0);
  begin();
  const std::string instance = host.meter().report()->instance_id;
  int a = 0;
  work("/a.service", a);
  fs::create_directory(directory / "ledger.json.new");
  keeper->save(host.meter().state(), false);
  ASSERT_TRUE(keeper->problem());
  work("/a.service", a);
  fs::remove(directory / "ledger.json.new");
  begin();
  EXPECT_EQ(host.meter().report()->instance_id, instance);
  EXPECT_EQ(host.unit("/a.service").active.value, 20'000'000);
}

// The first record of a run follows those of the run before, whose state is still the saved one.
TEST_F(WriteAhead, WhatARunGivesUpBeforeItsFirstSaveIsNotThereAfterItsKill) {
  limits.retention = limits.vm_retention = 10s;
  host.files.add_cgroup("/p.slice", 0);
  host.files.add_cgroup("/p.slice/c.service", 0);
  host.files.add_cgroup(kContainer, 0);
  begin();
  const std::string instance = host.meter().report()->instance_id;
  host.draw(20'000'000);
  for (const char* const unit : {"/p.slice", "/p.slice/c.service", kContainer})
    host.files.set_cgroup_usage(unit, 100'000);
  step();
  host.files.remove_cgroup("/p.slice/c.service");
  host.files.remove_cgroup(kContainer);
  step();

  host.pass(20s);
  fs::create_directory(directory / "ledger.json.new");
  begin();
  ASSERT_TRUE(keeper->problem()) << "it could not save";
  ASSERT_EQ(host.meter().report()->instance_id, instance);
  ASSERT_EQ(host.meter().report()->units.size(), 1u);
  ASSERT_TRUE(host.meter().report()->containers.empty());

  fs::remove(directory / "ledger.json.new");
  begin();
  EXPECT_EQ(host.meter().report()->instance_id, instance);
  EXPECT_EQ(host.meter().report()->host.active.value, 10'000'000);
  EXPECT_EQ(host.unit("/p.slice").own.value, 5'000'000);
  EXPECT_EQ(host.meter().report()->units.size(), 1u);
  EXPECT_TRUE(host.meter().report()->containers.empty());
}

TEST_F(WriteAhead, AKillBetweenTheSaveAndTheEndOfItsLogTakesNothingBack) {
  host.files.add_cgroup("/a.service", 0);
  begin();
  int a = 0;
  work("/a.service", a);
  const std::string log_before = log_text();
  LedgerState state = host.meter().state();
  keeper->save(state, false);  // the log restarts with it
  const std::string since = log_text();
  work("/a.service", a);
  const std::string after = log_text().substr(since.size());
  std::ofstream(log_file(), std::ios::binary) << log_before << since << after;  // as if it had not
  begin();
  EXPECT_EQ(host.unit("/a.service").active.value, 20'000'000);
}

TEST_F(WriteAhead, ARecordThatIsCutOffWasNeverSeen) {
  host.files.add_cgroup("/a.service", 0);
  begin();
  const std::string instance = host.meter().report()->instance_id;
  int a = 0;
  work("/a.service", a);
  const std::size_t first = log_text().size();
  work("/a.service", a);
  const std::string whole = log_text(), state = [&] {
    std::ostringstream text;
    text << std::ifstream(state_file()).rdbuf();
    return text.str();
  }();
  const std::size_t step = (whole.size() - first) / 16;
  for (std::size_t size = first; size < whole.size(); size += step) {
    std::ofstream(log_file(), std::ios::binary) << whole.substr(0, size);
    std::ofstream(state_file()) << state;
    begin();
    EXPECT_EQ(host.meter().report()->instance_id, instance);
    // What it had is measured again.
    EXPECT_EQ(host.meter().report()->window, 1s) << size;
    ASSERT_EQ(host.unit("/a.service").active.value, 20'000'000) << size;
  }
}

TEST_F(WriteAhead, ADamagedOneIsNotTakenAndTheInstanceIsAnother) {
  host.files.add_cgroup("/a.service", 0);
  begin();
  const std::string instance = host.meter().report()->instance_id;
  int a = 0;
  work("/a.service", a);
  std::string text = log_text();
  text[text.size() / 2] ^= 1;
  std::ofstream(log_file(), std::ios::binary) << text;
  begin();
  EXPECT_NE(host.meter().report()->instance_id, instance);
  EXPECT_EQ(host.unit("/a.service").active.value, 0);
}

TEST_F(WriteAhead, OfAnotherBootItMeansNothing) {
  host.files.add_cgroup("/a.service", 0);
  begin();
  const std::string instance = host.meter().report()->instance_id;
  int a = 0;
  work("/a.service", a);
  host.files.write("proc/sys/kernel/random/boot_id", "another\n");
  begin();
  EXPECT_NE(host.meter().report()->instance_id, instance);
}

TEST_F(WriteAhead, TheStateOfAGuestIsReadBack) {
  host.files.add_cgroup("/a.service", 0);
  begin();
  LedgerState state = host.meter().state();
  ASSERT_FALSE(state.zones.empty());
  for (ZoneState& zone : state.zones) zone.quality = Quality::kAttributed;
  const auto read = parse_state(format_state(state));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->zones[0].quality, Quality::kAttributed);
}

TEST_F(WriteAhead, OfAnotherStateItMeansNothing) {
  host.files.add_cgroup("/a.service", 0);
  begin();
  const std::string instance = host.meter().report()->instance_id;
  int a = 0;
  work("/a.service", a);
  LedgerState other = host.meter().state();
  other.instance_id = "other";
  other.boot_id = "11111111-2222-3333-4444-555555555555";
  ASSERT_TRUE(save_state(state_file(), other));
  work("/a.service", a);
  begin();
  EXPECT_EQ(host.unit("/a.service").active.value, 10'000'000);
  EXPECT_NE(host.meter().report()->instance_id, instance);
}

TEST_F(WriteAhead, AfterAnOrderlyEndProcessesGoOnToo) {
  host.files.add_cgroup("/a.service", 0);
  add_process("/a.service");
  begin();
  int a = 0;
  work("/a.service", a);
  const auto before = *host.process(10);
  keeper->save(host.meter().state(), true);
  begin();
  EXPECT_EQ(host.process(10)->active, before.active);
  EXPECT_EQ(host.process(10)->in_unit, before.in_unit);
  EXPECT_EQ(host.unit("/a.service").other.value, 10'000'000 - before.in_unit.value);
}

TEST_F(WriteAhead, AProcessThatHasMovedMeanwhileKeepsItsTotalAndTheUnitItsPart) {
  host.files.add_cgroup("/a.service", 0);
  host.files.add_cgroup("/b.service", 0);
  add_process("/a.service");
  begin();
  int a = 0;
  work("/a.service", a);
  const auto before = *host.process(10);
  host.files.move_process(10, "/b.service");
  begin();
  EXPECT_EQ(host.process(10)->active, before.active);
  EXPECT_EQ(host.process(10)->in_unit.value, 0);
  EXPECT_EQ(host.unit("/a.service").other.value, 10'000'000);
  EXPECT_EQ(host.unit("/b.service").other.value, 0);
}

TEST_F(WriteAhead, AUnitThatIsGivenUpIsThenItsParentsOwn) {
  limits.retention = limits.vm_retention = 10s;
  host.files.add_cgroup("/p.slice", 0);
  host.files.add_cgroup("/p.slice/c.service", 0);
  begin();
  const std::string instance = host.meter().report()->instance_id;
  host.draw(20'000'000);
  for (const char* const unit : {"/p.slice", "/p.slice/c.service"})
    host.files.set_cgroup_usage(unit, 100'000);
  step();
  host.files.remove_cgroup("/p.slice/c.service");
  step();
  host.step(20s);  // in which the parent does nothing
  log();
  ASSERT_EQ(host.meter().report()->units.size(), 1u);
  begin();
  EXPECT_EQ(host.meter().report()->instance_id, instance);
  EXPECT_EQ(host.unit("/p.slice").own.value, 10'000'000);
}

TEST_F(WriteAhead, WhereItCannotBeWrittenThatIsAProblemAndTheInstanceChangesAfterACrash) {
  host.files.add_cgroup("/a.service", 0);
  fs::create_directory(log_file());
  begin();
  const std::string instance = host.meter().report()->instance_id;
  ASSERT_TRUE(keeper->problem());
  EXPECT_NE(keeper->problem()->find("after a crash totals would go back"), std::string::npos);
  int a = 0;
  work("/a.service", a);
  fs::remove(log_file());
  begin();
  EXPECT_NE(host.meter().report()->instance_id, instance);
  EXPECT_FALSE(keeper->problem());
}

}  // namespace
}  // namespace keplerd
