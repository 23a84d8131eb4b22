// SPDX-License-Identifier: Apache-2.0
// Random hosts whose power is learned, with the faults of real ones: frequencies that are frozen or no
// numbers, CPUs that go offline, limits that change, suspend, counters that are reset, windows of 10 ms and
// 10 min, other rules by reload, and restarts. Every report adds up, and nothing decreases (MeterHost checks
// it).
#include <array>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "attribution/make_model.h"
#include "daemon/ended_group.h"
#include "daemon/meter_host.h"
#include "daemon/report_checks.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kCpus = 4;

class LearningHost {
 public:
  explicit LearningHost(unsigned seed) : random_(seed) {
    host_.cpus.resize(kCpus);
    for (int i = 0; i < 8; ++i) add_service();
    for (std::size_t cpu = 0; cpu < kCpus; ++cpu) set_frequency(cpu, "2400000\n");
    host_.begin();
  }

  void step() {
    change();
    const Nanoseconds window = pick_window();
    run(window);
    draw(window);
    host_.step(window);
    learned_ += host_.view().report->rules == RulesInForce{"baseline", "learned"} ? 1 : 0;
    if (pick(20) == 0) restart();
  }

  // How many reports were divided by what had been learned.
  int learned() const { return learned_; }

 private:
  struct Process {
    std::string group;
    std::int64_t ticks = 0;
  };

  int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

  Nanoseconds pick_window() {
    static constexpr std::array<Nanoseconds, 8> kWindows{10ms, 100ms, 1s, 1s, 1s, 1s, 5s, 10min};
    return kWindows[static_cast<std::size_t>(pick(kWindows.size()))];
  }

  void add_service() {
    const std::string path = fmt::format("/system.slice/s{}.service", next_);
    host_.files.add_cgroup(path);
    host_.files.add_process({.pid = next_, .start = static_cast<std::uint64_t>(next_), .cgroup = path});
    groups_[path] = 0;
    processes_[next_++] = {path};
  }

  void end_service() {
    if (groups_.size() < 4) return;
    const auto group = std::next(groups_.begin(), pick(static_cast<int>(groups_.size())));
    end_group(host_.files, group->first, groups_, processes_);
  }

  void change() {
    if (pick(4) == 0) add_service();
    if (pick(6) == 0) end_service();
    if (pick(5) == 0) change_frequency();
    if (pick(8) == 0) host_.cpus.resize(static_cast<std::size_t>(1 + pick(kCpus)));
    if (pick(8) == 0) change_limits();
    if (pick(10) == 0) suspend();
    if (pick(10) == 0) reload();
    if (pick(4) == 0) host_.meter().want_processes(pick(2) == 0);
  }

  void set_frequency(std::size_t cpu, std::string_view text) {
    host_.files.write(fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", cpu), text);
  }

  void change_frequency() {
    static constexpr std::array<std::string_view, 8> kTexts{
        "800000\n", "2400000\n", "nan\n", "<unknown>\n", "0\n", "-1\n", "", "9223372036854775807\n"};
    set_frequency(static_cast<std::size_t>(pick(kCpus)),
                  kTexts[static_cast<std::size_t>(pick(kTexts.size()))]);
  }

  void change_limits() {
    host_.files.write("sys/devices/virtual/powercap/intel-rapl/intel-rapl:0/constraint_0_power_limit_uw",
                      fmt::format("{}\n", 50'000'000 + pick(100'000'000)));
    const std::string group = std::next(groups_.begin(), pick(static_cast<int>(groups_.size())))->first;
    host_.files.write("cgroup" + group + "/cpuset.cpus.effective", pick(2) == 0 ? "0\n" : "0-3\n");
    host_.files.write("cgroup" + group + "/cpu.max", pick(2) == 0 ? "max 100000\n" : "50000 100000\n");
  }

  void suspend() {
    host_.now.boottime += 1h;
    host_.now.realtime += 1h;
  }

  void reload() {
    static constexpr std::array<ModelRules, 4> kRules{
        ModelRules{}, ModelRules{.share = ModelRules::Share::kCpuTime}, kKeplerRules,
        ModelRules{.idle_power = Microwatts{7'000'000}}};
    // Mostly the default, so that something is learned.
    const int rules = pick(12);
    host_.meter().set_model(make_model(rules < 4 ? kRules[static_cast<std::size_t>(rules)] : ModelRules{}));
    host_.meter().set_idle_placing(IdlePlacing{pick(3)});
  }

  void run(Nanoseconds window) {
    const std::int64_t window_ticks = std::max<std::int64_t>(1, window / 10ms);
    std::int64_t left = window_ticks * static_cast<std::int64_t>(host_.cpus.size());
    for (auto& [pid, process] : processes_) {
      const std::int64_t ticks = std::min(left, window_ticks * pick(11) / 10);
      left -= ticks;
      host_.files.set_process_time(pid, process.ticks += ticks);
      host_.files.set_cgroup_usage(process.group, (groups_.at(process.group) += ticks * 10'000));
      slice_ += ticks * 10'000;
    }
    host_.files.set_cgroup_usage("/system.slice", slice_);
    for (FakeCpuTicks& cpu : host_.cpus) {
      const std::int64_t idle = left / static_cast<std::int64_t>(host_.cpus.size());
      cpu.user += window_ticks - idle;
      cpu.idle += idle;
    }
  }

  void draw(Nanoseconds window) {
    const std::int64_t milliseconds = window / 1ms;
    const std::int64_t package = milliseconds * (10'000 + pick(60'000));
    const std::int64_t dram = milliseconds * pick(4'000);
    drawn_ += package;
    host_.draw(package, dram);
    if (pick(25) == 0) {  // the counter is reset
      host_.draw(-drawn_ + pick(1000));
      drawn_ = 0;
    }
    if (pick(25) == 0) host_.files.set_energy_text("intel-rapl:0", "nan\n");
  }

  void restart() {
    const auto state = parse_state(format_state(host_.meter().state()));
    ASSERT_TRUE(state.ok()) << state.error().message;
    // Processes begin again without the log of the previous run, which random_kills_test.cpp has.
    const ReportView before{host_.view().report, std::make_shared<ProcessRows>()};
    host_.begin({}, Ledger(*state, "another"), state->readings);
    host_.meter().restore_models(state->models);
    expect_no_step_back(before, host_.view());
  }

  std::mt19937 random_;
  MeterHost host_;
  std::map<std::string, std::int64_t> groups_;  // and the CPU time of each, in microseconds
  std::map<pid_t, Process> processes_;
  std::int64_t slice_ = 0;
  std::int64_t drawn_ = 0;  // since the counter was reset
  pid_t next_ = 1000;
  int learned_ = 0;
};

TEST(RandomLearning, AddsUpInEveryReport) {
  int learned = 0;
  for (unsigned seed = 0; seed < 4 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    LearningHost host(seed);
    for (int i = 0; i < 80 && !testing::Test::HasFailure(); ++i) host.step();
    learned += host.learned();
  }
  EXPECT_GT(learned, 150) << "of 320 reports";
}

}  // namespace
}  // namespace keplerd
