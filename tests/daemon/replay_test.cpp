// SPDX-License-Identifier: Apache-2.0
// Records a written host, and divides the trace again: all totals are those that were counted, to the
// microjoule.
#include "daemon/replay.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "attribution/make_model.h"
#include "daemon/convert_settings.h"
#include "daemon/meter_host.h"
#include "daemon/recorder.h"
#include "varlink/json.h"

namespace keplerd {
namespace {

using varlink::Json;

class Replayed : public testing::Test {
 protected:
  Replayed() {
    for (const char* path :
         {"/system.slice", "/system.slice/a.service", "/system.slice/b.service", "/c.scope"})
      host.files.add_cgroup(path, 0);
    host.files.add_process({.pid = 10, .cgroup = "/system.slice/a.service"});
    host.files.add_process({.pid = 11});
    host.files.add_process({.pid = 12, .kernel_thread = true});
    host.cpus.resize(4);
  }

  void begin(const Settings& with) {
    settings = with;
    host.begin();
    host.meter().set_model(make_model(model_rules(settings.attribution)));
    host.meter().set_idle_placing(idle_placing(settings.attribution.idle));
    host.meter().set_recorded(true);
    recording = recorder.start({});
    recorder.take(host.meter().last_sample(), host.meter().zones(), *host.meter().report());
  }

  void run() {
    std::uniform_int_distribution<int> some(0, 99);
    const int a = some(random), b = some(random), c = some(random), outside = some(random) / 10;
    a_usage += a * 9'973;
    b_usage += b * 9'871;
    c_usage += c * 9'767;
    host.files.set_cgroup_usage("/system.slice", a_usage + b_usage);
    host.files.set_cgroup_usage("/system.slice/a.service", a_usage);
    host.files.set_cgroup_usage("/system.slice/b.service", b_usage);
    if (has_c) host.files.set_cgroup_usage("/c.scope", c_usage);
    host.files.set_process_time(10, a_usage / 10'000);
    host.files.set_process_time(11, outside_ticks += outside);
    host.files.set_process_time(12, kernel_ticks += outside / 2);
    for (std::size_t i = 0; i < host.cpus.size(); ++i) {
      const int busy = std::array{a, b, c, outside}[i];
      host.cpus[i].user += busy;
      host.cpus[i].idle += 100 - busy;
    }
    host.draw(10'000'000 + 41'003 * a + 120'007 * b + 60'013 * c, 1'000'000 + 7 * a);
    host.step(std::chrono::microseconds(1'000'003));
    recorder.take(host.meter().last_sample(), host.meter().zones(), *host.meter().report());
  }

  void end_c_and_begin_anew() {
    host.files.remove_cgroup("/c.scope");
    has_c = false;
    run();
    run();
    host.files.add_cgroup("/c.scope", c_usage = 0);
    has_c = true;
    run();
  }

  Replay replay() {
    Replay replay(settings);
    text = recording->take_text(64 << 20);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const auto taken = replay.take(line);
      EXPECT_TRUE(taken) << taken.error().message;
    }
    return replay;
  }

  // Since the first recorded sample.
  void expect_same_totals(const Report& first) {
    const Report& live = *host.meter().report();
    const Replay replay = this->replay();
    const auto again = replay.report();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->host.energy, live.host.energy - first.host.energy);
    EXPECT_EQ(again->host.idle, live.host.idle - first.host.idle);
    EXPECT_EQ(again->accounts.kernel, live.accounts.kernel - first.accounts.kernel);
    EXPECT_EQ(again->accounts.workloads, live.accounts.workloads - first.accounts.workloads);
    EXPECT_EQ(again->accounts.unattributed, live.accounts.unattributed - first.accounts.unattributed);
    EXPECT_EQ(again->rules, live.rules);
    EXPECT_EQ(again->models, live.models);
    std::size_t compared = 0;
    for (const UnitRow& unit : again->units) {
      const auto find = [&](const Report& report) {
        const auto row = std::ranges::find_if(
            report.units, [&](const UnitRow& one) { return one.info->id == unit.info->id; });
        return row == report.units.end() ? nullptr : &*row;
      };
      const UnitRow* const now = find(live);
      const UnitRow* const then = find(first);
      ASSERT_NE(now, nullptr) << unit.info->id;
      EXPECT_EQ(unit.active, now->active - (then != nullptr ? then->active : Microjoules{})) << unit.info->id;
      EXPECT_EQ(unit.idle, now->idle - (then != nullptr ? then->idle : Microjoules{})) << unit.info->id;
      EXPECT_EQ(unit.own, now->own - (then != nullptr ? then->own : Microjoules{})) << unit.info->id;
      EXPECT_EQ(unit.running, now->running);
      ++compared;
    }
    EXPECT_GE(compared, 4U);
  }

  MeterHost host;
  Settings settings;
  Recorder recorder;
  std::shared_ptr<Recording> recording;
  std::mt19937 random{7};
  std::int64_t a_usage = 0, b_usage = 0, c_usage = 0, outside_ticks = 0, kernel_ticks = 0;
  bool has_c = true;
  std::string text;
};

Settings kepler_settings() {
  Settings settings;
  settings.attribution.split = SplitRule::kUsageRatio;
  settings.attribution.share = ShareRule::kCpuTime;
  return settings;
}

TEST_F(Replayed, ByKeplersRuleHasTheSameTotals) {
  begin(kepler_settings());
  const auto first = host.meter().report();
  for (int i = 0; i < 50; ++i) run();
  end_c_and_begin_anew();
  for (int i = 0; i < 20; ++i) run();
  expect_same_totals(*first);
}

TEST_F(Replayed, ByWhatItLearnsHasTheSameTotals) {
  begin({});
  const auto first = host.meter().report();
  for (int i = 0; i < 150; ++i) run();
  end_c_and_begin_anew();
  for (int i = 0; i < 100; ++i) run();
  EXPECT_EQ(host.meter().report()->rules, (RulesInForce{"baseline", "learned"}));
  expect_same_totals(*first);
}

TEST_F(Replayed, ByIdlePoliciesHasTheSameTotals) {
  for (const IdlePolicy policy : {IdlePolicy::kEqual, IdlePolicy::kSize, IdlePolicy::kUsage}) {
    const std::string scope = "/machine.slice/machine-qemu\\x2d1\\x2dweb.scope";
    if (policy == IdlePolicy::kEqual) {
      host.files.write("proc/meminfo", "MemTotal: 16777216 kB\n");
      host.files.add_cgroup(scope);
      const char command[] = "qemu-system-x86_64\0-smp\0002\0-m\0002G";
      host.files.add_process({.pid = 20,
                              .comm = "qemu-system-x86",
                              .cgroup = scope,
                              .cmdline = std::string(command, sizeof command)});
    }
    Settings by_size;
    by_size.attribution.idle = policy;
    begin(by_size);
    const auto first = host.meter().report();
    for (int i = 0; i < 40; ++i) {
      if (i % 7 == 0)
        host.files.write("cgroup/system.slice/a.service/cpu.max", std::to_string(i * 9'999) + " 100000\n");
      if (i % 11 == 0)
        host.files.write("cgroup/c.scope/memory.max", std::to_string(i * 100'000'007LL) + "\n");
      run();
    }
    end_c_and_begin_anew();
    for (int i = 0; i < 20; ++i) run();
    expect_same_totals(*first);
    EXPECT_NE(host.meter().report()->accounts.workloads, first->accounts.workloads);
    if (policy == IdlePolicy::kSize) {
      EXPECT_GT(host.unit(scope).idle, Microjoules{});
      EXPECT_GT(host.unit("/system.slice/a.service").idle, Microjoules{});
      EXPECT_NE(text.find(R"("memoryMax":2147483648,"vcpus":2)"), std::string::npos);
    }
  }
}

TEST_F(Replayed, UnderOtherRulesHasTheSameEnergyOtherwiseDivided) {
  begin(kepler_settings());
  const auto first = host.meter().report();
  for (int i = 0; i < 100; ++i) run();
  settings = {};
  const Replay replay = this->replay();
  EXPECT_EQ(replay.report()->host.energy, host.meter().report()->host.energy - first->host.energy);
  EXPECT_NE(replay.report()->host.idle, host.meter().report()->host.idle - first->host.idle);
  EXPECT_EQ(replay.report()->rules, (RulesInForce{"baseline", "learned"}));
}

TEST_F(Replayed, PrintsStatusZonesAndUnitsALineEach) {
  begin(kepler_settings());
  for (int i = 0; i < 3; ++i) run();
  std::ostringstream out;
  replay().write(out);
  std::istringstream lines(out.str());
  std::string status, zones, units, more;
  std::getline(lines, status);
  std::getline(lines, zones);
  std::getline(lines, units);
  EXPECT_FALSE(std::getline(lines, more));
  EXPECT_EQ(Json::parse(status).at("source").at("name"), "powercap");
  EXPECT_TRUE(Json::parse(status).contains("accounts"));
  EXPECT_EQ(Json::parse(zones).at("zones").size(), 2U);
  EXPECT_EQ(Json::parse(units).at("units").size(), 4U);
}

// The last is read by Replay from the file as it is.
class ReplayFile : public Replayed {
 protected:
  ReplayFile()
      : path(std::filesystem::temp_directory_path() / ("keplerd-replay-" + std::to_string(::getpid()))) {
    begin(kepler_settings());
    for (int i = 0; i < 5; ++i) run();
    text = recording->take_text(64 << 20);
  }
  ~ReplayFile() override { std::filesystem::remove(path); }

  std::string replay_text(const std::string& file_text, std::optional<std::uint64_t> every = {}) {
    std::ofstream(path) << file_text;
    const auto replayed = replay_file({path, every}, settings, out, warnings);
    return replayed ? "" : replayed.error().message;
  }
  std::ptrdiff_t lines() const { return std::ranges::count(out.str(), '\n'); }

  std::string path;
  std::ostringstream out, warnings;
};

TEST_F(ReplayFile, PrintsOnceAtTheEnd) {
  EXPECT_EQ(replay_text(text), "");
  EXPECT_EQ(lines(), 3);
  EXPECT_EQ(warnings.str(), "");
}

TEST_F(ReplayFile, PrintsAfterEverySoManySamplesAndAfterTheLast) {
  EXPECT_EQ(replay_text(text, 4), "");
  EXPECT_EQ(lines(), 2 * 3) << "after 4 and after 6 samples";
}

TEST_F(ReplayFile, LeavesAnIncompleteLastLineOut) {
  EXPECT_EQ(replay_text(text.substr(0, text.size() - 9)), "");
  EXPECT_EQ(warnings.str(), path + ":8: the line is incomplete, and is left out\n");
}

TEST_F(ReplayFile, NamesTheLineThatIsDamaged) {
  std::string damaged = text;
  damaged[damaged.find("monotonicUsec", damaged.find("monotonicUsec") + 1)] = 'M';
  EXPECT_EQ(replay_text(damaged), path + ":4: 'monotonicUsec' is missing, malformed or out of range");
  EXPECT_EQ(lines(), 0);
  EXPECT_EQ(replay_text("\x7f"
                        "ELF\n"),
            path + ":1: not JSON");
  EXPECT_EQ(replay_text(""), path + ": there is no sample in it");
  std::filesystem::remove(path);
  EXPECT_EQ(replay_file({path}, settings, out, warnings).error().message,
            path + ": No such file or directory");
}

TEST_F(ReplayFile, AFullDiskIsReported) {
  out.setstate(std::ios::badbit);
  EXPECT_EQ(replay_text(text), "cannot write to standard output");
}

TEST_F(ReplayFile, ARecordingThatGoesOnLaterAddsItsWindowsOnly) {
  const Microjoules before = host.meter().report()->host.energy;
  host.draw(500'000'000);
  host.step(std::chrono::seconds(30));  // not recorded
  recording = recorder.start({});
  run();
  const Microjoules begun = host.meter().report()->host.energy;
  run();
  const std::string next = recording->take_text(64 << 20);
  EXPECT_EQ(replay_text(text + next), "");
  const Json status = Json::parse(out.str().substr(0, out.str().find('\n')));
  const Microjoules first = host.meter().report()->host.energy - begun;
  EXPECT_GT(first, Microjoules{});
  std::istringstream only(text);
  Replay alone(settings);
  for (std::string line; std::getline(only, line);) EXPECT_TRUE(alone.take(line));
  EXPECT_EQ(status.at("host").at("energyMicrojoules"), (alone.report()->host.energy + first).value);
  EXPECT_LE(alone.report()->host.energy, before);
}

TEST(Recorder, HasARoomForFour) {
  Recorder recorder;
  std::vector<std::shared_ptr<Recording>> recordings;
  for (int i = 0; i < 4; ++i) recordings.push_back(recorder.start({}));
  EXPECT_EQ(recorder.start({}), nullptr);
  recordings.pop_back();
  EXPECT_NE(recorder.start({}), nullptr);
  recordings.clear();
  EXPECT_FALSE(recorder.is_active());
}

}  // namespace
}  // namespace keplerd
