// SPDX-License-Identifier: Apache-2.0
// Random hosts with nested containers, pods and VMs whose processes appear, move and end, and a keplerd that
// is occasionally restarted: every report adds up, and nothing decreases (MeterHost checks it).
#include <random>

#include <gtest/gtest.h>

#include "daemon/ended_group.h"
#include "daemon/meter_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class RandomHost {
 public:
  // `calm`: little comes and goes, so that some processes are not read with each sample.
  RandomHost(unsigned seed, bool calm) : random_(seed), calm_(calm) {
    for (const char* const path : {"/system.slice", "/system.slice/a.service", "/machine.slice"}) add(path);
    host_.begin();
    host_.meter().set_limits(limits());
  }

  void grow() { change(); }
  // How many rows of units had undivided energy.
  int undivided() const { return undivided_; }

  void step() {
    for (int i = calm_ ? pick(8) / 7 : pick(6); i > 0; --i) change();
    for (auto& [pid, process] : processes_) use(pid, pick(20));
    for (int i = pick(3); i > 0; --i) use_alone(any(groups_)->first, pick(5));
    host_.draw(pick(90'000'000), pick(9'000'000));
    host_.step(std::chrono::seconds(pick(3) == 0 ? 1 + pick(40) : 1));
    for (const UnitRow& unit : host_.view().report->units) undivided_ += unit.undivided ? 1 : 0;
    if (pick(15) == 0) restart();
    if (!calm_ && pick(10) == 0) host_.meter().set_idle_placing(IdlePlacing{pick(3)});
    if (pick(4) == 0) host_.meter().want_processes(pick(4) == 0);
  }

 private:
  struct Process {
    std::string group;
    std::int64_t used = 0;
  };

  static TerminatedLimits limits() { return {.max = 4, .min_energy = {3'000'000}, .retention = 100s}; }

  int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }
  template <class Map>
  typename Map::iterator any(Map& map) {
    return std::next(map.begin(), pick(static_cast<int>(map.size())));
  }

  void add(const std::string& path) {
    host_.files.add_cgroup(path);
    groups_.try_emplace(path, 0);
  }

  // Few ids, so that some come back, possibly elsewhere.
  std::string name_of_a_group() {
    const std::string id(64, static_cast<char>('a' + pick(4)));
    switch (pick(7)) {
      case 0:
        return "docker-" + id + ".scope";
      case 1:
        return "libpod-conmon-" + id + ".scope";
      case 2:
        return "kubepods-pod" + std::to_string(pick(3)) + ".slice";
      case 3:
        return "lxc.payload.web";
      case 4:
        return "machine-qemu\\x2d" + std::to_string(pick(3)) + "\\x2dvm.scope";
      case 5:
        return "kubepods-pod" + std::to_string(pick(3)) + ".slice:cri-containerd:" + id;
      default:
        return "s" + std::to_string(pick(5)) + ".service";
    }
  }

  void change() {
    switch (pick(5)) {
      case 0: {
        const std::string path = any(groups_)->first + "/" + name_of_a_group();
        if (std::ranges::count(path, '/') < 6) add(path);
        return;
      }
      case 1:
        return remove_group(any(groups_)->first);
      case 2:
      case 3:
        return add_process();
      default:
        return move_or_end_process();
    }
  }

  void remove_group(const std::string& path) {
    if (path == "/system.slice" || path == "/machine.slice") return;
    end_group(host_.files, path, groups_, processes_);
  }

  void add_process() {
    const std::string group = any(groups_)->first;
    const pid_t pid = next_pid_++;
    const bool vm = pick(3) == 0;
    std::string command;
    if (vm) {
      command = "qemu-system-x86_64";
      command += '\0';
      if (pick(2) == 0) {
        (command += "-uuid") += '\0';
        (command += "00000000-0000-4000-8000-00000000000" + std::to_string(pick(4))) += '\0';
      }
    }
    host_.files.add_process({.pid = pid,
                             .comm = vm ? "qemu-system-x86" : "task",
                             .start = static_cast<std::uint64_t>(pid),
                             .cgroup = group,
                             .cmdline = command});
    processes_[pid] = {group};
  }

  void move_or_end_process() {
    if (processes_.empty()) return;
    const auto process = any(processes_);
    if (pick(2) == 0) {
      host_.files.remove_process(process->first);
      processes_.erase(process);
    } else {
      process->second.group = any(groups_)->first;
      host_.files.move_process(process->first, process->second.group);
    }
  }

  void use(pid_t pid, std::int64_t ticks) {
    Process& process = processes_.at(pid);
    host_.files.set_process_time(pid, process.used += ticks);
    use_alone(process.group, ticks);
  }

  // A group's own energy, and so that of all its ancestors.
  void use_alone(const std::string& group, std::int64_t ticks) {
    for (std::string path = group; !path.empty(); path.resize(path.rfind('/'))) {
      const auto entry = groups_.find(path);
      if (entry != groups_.end()) host_.files.set_cgroup_usage(path, (entry->second += ticks) * 10'000);
    }
  }

  void restart() {
    const auto state = parse_state(format_state(host_.meter().state()));
    ASSERT_TRUE(state.ok()) << state.error().message;
    host_.begin({}, Ledger(*state, "another"), state->readings);
    host_.meter().set_limits(limits());
  }

  std::mt19937 random_;
  bool calm_;
  int undivided_ = 0;
  MeterHost host_;
  std::map<std::string, std::int64_t> groups_;
  std::map<pid_t, Process> processes_;
  pid_t next_pid_ = 1000;
};

TEST(RandomWorkloads, AddUpInEveryReport) {
  for (unsigned seed = 0; seed < 6 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomHost host(seed, false);
    for (int i = 0; i < 30 && !testing::Test::HasFailure(); ++i) host.step();
  }
}

TEST(RandomWorkloads, AddUpWhileProcessesAreReadSeldom) {
  for (unsigned seed = 0; seed < 6 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomHost host(seed, true);
    for (int i = 0; i < 20; ++i) host.grow();
    for (int i = 0; i < 100 && !testing::Test::HasFailure(); ++i) host.step();
    EXPECT_GT(host.undivided(), 0);
  }
}

}  // namespace
}  // namespace keplerd
