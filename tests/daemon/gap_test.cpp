// SPDX-License-Identifier: Apache-2.0
// What is drawn while keplerd is dead: the first window of the next run begins with the last sample before.
#include <fstream>

#include <gtest/gtest.h>

#include "daemon/vm_host.h"
#include "daemon/write_ahead_host.h"
#include "ledger/log/usage.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

// Gaps in which the host is half busy, and half of what is drawn is active.
class Gap : public WriteAhead {
 protected:
  void use(const std::string& unit, Nanoseconds time) {
    used[unit] += std::chrono::duration_cast<std::chrono::microseconds>(time).count();
    host.files.set_cgroup_usage(unit, used[unit]);
  }
  std::int64_t active(const std::string& unit) const { return host.unit(unit).active.value; }
  const Report& report() { return *host.meter().report(); }

  std::map<std::string, std::int64_t> used;
};

TEST_F(Gap, IsOneWindowThatIsDividedByTheCpuTimeInIt) {
  host.files.add_cgroup("/a.service");
  host.files.add_cgroup("/b.service");
  add_process("/a.service");
  begin();
  use("/a.service", 100ms);
  host.files.set_process_time(10, 5);
  host.draw(20'000'000, 2'000'000);
  step();
  const std::string instance = report().instance_id;

  host.draw(60'000'000, 6'000'000);
  host.pass(3s);
  use("/a.service", 200ms);
  host.files.set_process_time(10, 15);
  use("/b.service", 100ms);
  begin();
  EXPECT_EQ(report().instance_id, instance);
  EXPECT_EQ(report().window, 3s);
  EXPECT_EQ(report().accounts.unattributed.value, 0);
  EXPECT_EQ(report().host.idle.value, 11'000'000 + 33'000'000);
  EXPECT_EQ(active("/a.service"), 11'000'000 + 22'000'000);
  EXPECT_EQ(active("/b.service"), 11'000'000);
  EXPECT_EQ(host.unit("/a.service").cpu, 300ms);
  EXPECT_EQ(host.process(10)->in_unit.value, 5'500'000 + 11'000'000);
  EXPECT_EQ(host.process(10)->cpu, 150ms);
  EXPECT_EQ(host.unit("/a.service").other.value, 16'500'000);
  EXPECT_EQ(report().host.power->value, 22'000'000);
}

TEST_F(Gap, AfterAnOrderlyEndIsDividedToo) {
  host.files.add_cgroup("/a.service");
  begin();
  step();
  keeper->save(host.meter().state(), true);
  host.draw(20'000'000);
  host.pass(1s);
  use("/a.service", 100ms);
  begin();
  EXPECT_EQ(active("/a.service"), 10'000'000);
  EXPECT_EQ(report().accounts.unattributed.value, 0);
}

TEST_F(Gap, WhatBeganInItHasAllItUsedAndWhatEndedInItStaysInItsParent) {
  host.files.add_cgroup("/s.slice/old.service");
  host.files.add_cgroup("/s.slice/again.service");
  host.files.add_process({.pid = 10, .cgroup = "/s.slice/again.service"});
  begin();
  for (const char* const unit : {"/s.slice/old.service", "/s.slice/again.service"}) use(unit, 1s);
  use("/s.slice", 2s);
  step();
  host.files.remove_cgroup("/s.slice/old.service");
  host.files.remove_process(10);
  host.files.remove_cgroup("/s.slice/again.service");
  host.files.add_cgroup("/s.slice/again.service");
  host.files.add_process({.pid = 11, .start = 360'050, .utime = 10, .cgroup = "/s.slice/again.service"});
  used["/s.slice/again.service"] = 0;
  use("/s.slice/again.service", 200ms);
  use("/s.slice", 500ms);  // 300 ms are of both that are gone
  host.draw(100'000'000);
  host.pass(1s);
  begin();
  EXPECT_EQ(active("/s.slice"), 50'000'000);
  EXPECT_EQ(host.unit("/s.slice").own.value, 30'000'000);
  EXPECT_EQ(active("/s.slice/again.service"), 20'000'000);
  EXPECT_EQ(host.unit("/s.slice/again.service").cpu, 1s + 200ms);
  EXPECT_EQ(active("/s.slice/old.service"), 0);
  EXPECT_FALSE(host.unit("/s.slice/old.service").running);
  EXPECT_EQ(host.process(11)->in_unit.value, 0) << "it was not there for the whole window";
  EXPECT_EQ(host.unit("/s.slice/again.service").other.value, 20'000'000);
}

TEST_F(Gap, AProcessThatChangedItsUnitInItCountsInNeitherAndOneWithAnotherStartTimeIsAnother) {
  for (const char* const unit : {"/a.service", "/b.service"}) host.files.add_cgroup(unit);
  add_process("/a.service");
  host.files.add_process({.pid = 11, .utime = 2, .cgroup = "/a.service"});
  begin();
  step();
  host.files.move_process(10, "/b.service");
  host.files.set_process_time(10, 10);
  host.files.remove_process(11);
  host.files.add_process({.pid = 11, .start = 200, .utime = 7, .cgroup = "/a.service"});
  for (const char* const unit : {"/a.service", "/b.service"}) use(unit, 100ms);
  host.draw(40'000'000);
  host.pass(1s);
  begin();
  for (const char* const unit : {"/a.service", "/b.service"})
    EXPECT_EQ(host.unit(unit).other.value, 10'000'000) << unit;
}

TEST_F(Gap, KernelThreadsAndProcessesOutsideAnyUnitHaveWhatTheyUsed) {
  host.files.add_process({.pid = 2, .comm = "kworker", .utime = 100, .kernel_thread = true});
  host.files.add_process({.pid = 12, .utime = 100});
  begin();
  step();
  host.files.set_process_time(2, 120);
  host.files.set_process_time(12, 110);
  host.files.add_process({.pid = 13, .start = 360'050 + 100, .utime = 10});
  host.draw(80'000'000);
  host.pass(1s);
  begin();
  EXPECT_EQ(report().accounts.kernel.value, 20'000'000);
  EXPECT_EQ(host.process(12)->active.value, 10'000'000);
  EXPECT_EQ(host.process(13)->active.value, 10'000'000);
}

TEST_F(Gap, AVmsPartsHaveWhatTheyUsed) {
  add_vm_with_threads(host.files);
  begin();
  for (const std::string& group : {std::string(kScope), kLibvirtGroup}) use(group, 3s);
  use(kLibvirtGroup + "/vcpu0", 2s);
  use(kLibvirtGroup + "/emulator", 1s);
  step();
  for (const std::string& group : {std::string(kScope), kLibvirtGroup}) use(group, 400ms);
  use(kLibvirtGroup + "/vcpu0", 300ms);
  use(kLibvirtGroup + "/emulator", 100ms);
  host.draw(80'000'000);
  host.pass(1s);
  begin();
  EXPECT_EQ(host.vm(kUuid)->active.value, 40'000'000);
  std::map<std::string, std::int64_t> parts;
  for (const VmPart& part : host.vm(kUuid)->parts) parts[part.name] = part.energy.value;
  EXPECT_EQ(parts["vcpu0"], 30'000'000);
  EXPECT_EQ(parts["emulator"], 10'000'000);
}

TEST_F(Gap, AGroupThatWasLeftOutBeforeDoesNotBringAllItEverUsed) {
  host.limits.groups.groups = 1;
  host.files.add_cgroup("/a.service");
  host.files.add_cgroup("/b.service");
  begin();
  for (const char* const unit : {"/a.service", "/b.service"}) use(unit, 100s);
  step();
  host.limits.groups.groups = 2;
  for (const char* const unit : {"/a.service", "/b.service"}) use(unit, 100ms);
  host.draw(20'000'000);
  host.pass(1s);
  begin();
  EXPECT_EQ(active("/a.service") + active("/b.service"), 10'000'000);
  EXPECT_EQ(host.unit("/a.service").cpu + host.unit("/b.service").cpu, 100s + 100ms);
}

TEST_F(Gap, LongerThanTenMinutesIsUnattributed) {
  host.files.write("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "1000000000000000\n");
  host.files.add_cgroup("/a.service");
  for (const auto& [gap, unattributed] : {std::pair(600s, 0), std::pair(601s, 20'000'000)}) {
    begin();
    step();
    const auto before = report().accounts.unattributed;
    use("/a.service", 100ms);
    host.draw(20'000'000);
    host.pass(gap);
    begin();
    EXPECT_EQ((report().accounts.unattributed - before).value, unattributed) << gap.count();
  }
}

TEST_F(Gap, InWhichTheCounterMayHaveWrappedTwiceIsNotCounted) {
  host.files.add_cgroup("/a.service");
  begin();
  step();
  use("/a.service", 100ms);
  host.draw(20'000'000);
  host.pass(9min);
  begin();
  EXPECT_EQ(report().host.energy.value, 0);
  EXPECT_EQ(report().discarded_windows, 1U) << "that of the memory takes longer";
  EXPECT_EQ(active("/a.service"), 0);
}

TEST_F(Gap, InWhichTheHostWasSuspendedIsNotCounted) {
  host.files.add_cgroup("/a.service");
  begin();
  step();
  use("/a.service", 100ms);
  host.draw(20'000'000);
  host.pass(1s);
  host.now.boottime += 1min;
  begin();
  EXPECT_EQ(report().host.energy.value, 0);
  EXPECT_EQ(report().discarded_windows, 2U);
}

// A meter that appears only later was not read when the gap ended.
TEST_F(Gap, AMeterThatIsFoundLaterHasDrawnForNobody) {
  host.files.add_cgroup("/a.service");
  begin();
  step();
  host.files.remove_powercap_zone("intel-rapl:0");
  use("/a.service", 100ms);
  host.pass(1s);
  begin();
  EXPECT_EQ(report().source.name, "none");
  host.files.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0", .energy = 20'000'000});
  use("/a.service", 100ms);
  for (int i = 0; i < 10 && report().source.name == "none"; ++i) host.step(10s);
  EXPECT_EQ(report().host.energy.value, 20'000'000);
  EXPECT_EQ(report().accounts.unattributed.value, 20'000'000);
}

TEST_F(Gap, AfterAVersionThatDidNotWriteCpuTimesIsUnattributed) {
  host.files.add_cgroup("/a.service");
  begin();
  step();
  LedgerState state = host.meter().state();
  state.usage.reset();
  keeper->save(state, true);
  use("/a.service", 100ms);
  host.draw(20'000'000);
  host.pass(1s);
  begin();
  EXPECT_EQ(report().accounts.unattributed.value, 20'000'000);
  EXPECT_EQ(active("/a.service"), 0);
}

std::string bytes_of(const SavedUsage& usage) {
  std::string bytes;
  ByteWriter out(bytes);
  put(out, usage);
  return bytes;
}

TEST(GapRecord, TimesInAGroupThatFellBehindAreNotKnown) {
  constexpr std::uint64_t kGroup = 7, kOther = 8;
  const std::string before = bytes_of(
      {.processes = {
           {{10, 1}, kGroup, 1ms}, {{11, 1}, kGroup, 2ms}, {{12, 1}, kOther, 3ms}, {{13, 1}, 0, 4ms}}});
  const std::string after = bytes_of({.processes = {{{11, 1}, kGroup, 5ms}}, .behind = {kGroup}});
  RedoneUsage redone;
  ByteReader first(before), second(after);
  redone.save_point(first);
  redone.sample(second);
  const std::vector<SavedUsage::Process> expected = {{{10, 1}, SavedUsage::kBehind, 1ms},
                                                     {{11, 1}, kGroup, 5ms},  // it has been read since
                                                     {{12, 1}, kOther, 3ms},
                                                     {{13, 1}, 0, 4ms}};
  EXPECT_EQ(redone.result()->processes, expected);
}

TEST(GapRecord, OfAnEarlierVersionHasNoGroupsThatFellBehind) {
  std::string bytes = bytes_of({.processes = {{{10, 1}, 7, 1ms}}});
  bytes.pop_back();  // their number, 0
  RedoneUsage redone;
  ByteReader in(bytes);
  redone.save_point(in);
  EXPECT_EQ(redone.result()->processes.size(), 1U);
}

// A busy service of a host that has been up for a month.
TEST(GapRecord, HasAFewBytesForWhatHasRun) {
  SavedUsage usage{.monotonic = 720h, .boottime = 800h, .ticks = {5'000'000'000, 50'000'000'000, 1'000'000}};
  const std::size_t empty = bytes_of(usage).size();
  usage.groups = {{9'000, 50h}};
  const std::size_t group = bytes_of(usage).size();
  usage.processes = {{{1'234'567, 250'000'000}, 9'000, 50h}};
  EXPECT_LE(empty, 50U);
  EXPECT_LE(group - empty, 9U);
  EXPECT_LE(bytes_of(usage).size() - group, 18U);
}

}  // namespace
}  // namespace keplerd
