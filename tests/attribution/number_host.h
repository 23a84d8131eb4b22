// SPDX-License-Identifier: Apache-2.0
// A host made of numbers only: groups, processes and counters as the sensors would report them, for tests of
// the division that need no files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "attribution/sample.h"
#include "energy/zone.h"

namespace keplerd {

Zone package_zone(int index = 0);  // its counter wraps at 262143328850 uJ, its largest limit is 200 W
Zone dram_zone(int index = 0);     // at 65712999613 uJ, no limit

class NumberHost {
 public:
  static constexpr int kRoot = 0;
  enum class Kind { kOrdinary, kKernelThread };

  explicit NumberHost(std::vector<Zone> zones = {package_zone()});

  const std::vector<Zone>& zones() const { return zones_; }

  int add_group(int parent = kRoot);
  void remove_group(int group);  // with everything in it; its usage stays in its ancestors
  int add_process(int group = kRoot, Kind kind = Kind::kOrdinary);
  void move_process(int process, int group) { processes_.at(process).group = group; }
  void end_process(int process) { processes_.erase(process); }
  // From the next sample on, the processes of the group are read only when they are new in it; or again.
  void read_processes(int group, bool read) { groups_.at(group).read = read; }

  void run(int process, Nanoseconds time);      // counts for its groups, too
  void run_group(int group, Nanoseconds time);  // by processes that are not reported
  void run_ticks(std::int64_t busy, std::int64_t idle, std::int64_t interrupts = 0);
  // Each with a core of its own; from then on, run_ticks() fills one after another.
  void give_cpus(int count) { cpus_ = count; }
  void keep_interrupts_apart() { interrupts_apart_ = true; }

  void draw(Microjoules energy, std::size_t zone = 0);  // with wrap
  void set_counter(Microjoules counter, std::size_t zone = 0) { counters_[zone] = counter; }
  void fail(bool failing, std::size_t zone = 0) { failing_[zone] = failing; }
  void suspend(Nanoseconds time) { asleep_ += time; }

  // The sensors' readings `after` more time. Reading skew: a group's usage is reported less `skew`, once.
  Sample sample(Nanoseconds after = std::chrono::seconds(1));
  void skew(int group, Nanoseconds time) { groups_.at(group).skew = time; }

  // Their indices in the last sample.
  std::size_t group_index(int group) const { return groups_.at(group).index; }
  std::size_t process_index(int process) const { return processes_.at(process).index; }

 private:
  struct Group {
    int parent = kRoot;
    std::string path;
    Nanoseconds usage{0};
    Nanoseconds skew{0};
    std::optional<Nanoseconds> reported;
    bool read = true;
    bool behind = false;
    std::size_t index = kNoGroup;
  };
  struct Process {
    ProcessId id;
    int group = kRoot;
    Kind kind = Kind::kOrdinary;
    Nanoseconds usage{0};
    std::optional<ProcessUsage::Before> reported;
    std::size_t index = kNoProcess;
  };
  void report_cpus(UsageSample& usage);
  void report_groups(UsageSample& usage);
  void report_processes(UsageSample& usage);

  std::vector<Zone> zones_;
  std::vector<Microjoules> counters_;
  std::vector<bool> failing_;
  std::map<int, Group> groups_;  // by incarnation: parents come first
  std::map<int, Process> processes_;
  std::map<int, std::string> paths_;  // outlive their groups, as in a sample
  int last_ = 0;
  bool first_ = true;
  bool interrupts_apart_ = false;
  int cpus_ = 0;
  CpuTicks ticks_{.busy = 1000, .idle = 9000, .interrupts = 10};
  CpuTicks reported_ticks_ = ticks_;
  Nanoseconds now_ = std::chrono::hours(1);
  Nanoseconds asleep_{0};
};

}  // namespace keplerd
