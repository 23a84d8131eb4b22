// SPDX-License-Identifier: Apache-2.0
// Counts events for cgroups, and for all that runs, as texts of usage files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "host/descriptor_budget.h"
#include "host/perf_counter.h"
#include "meters/counts/wanted_cgroups.h"
#include "meters/perf/event_counts.h"
#include "usage/processors.h"

namespace keplerd {
class HostRoot;
}

namespace keplerd::perf {

class Reader {
 public:
  struct Options {
    std::vector<std::string> patterns;  // as WantedCgroups has them
    std::size_t descriptors = 0;        // for the counters of cgroups and of all that runs together
    std::vector<Event> events;
    OpenPerfCounter open = open_perf_counter;
  };

  // `host` must outlive it.
  Reader(const HostRoot& host, Options options);

  // To be called every second or so, at `now` (CLOCK_BOOTTIME). Returns the texts by the names of the files.
  std::map<std::string, std::string> read(Nanoseconds now);

  // Why something that was asked for is not counted, at the last call; empty if all is.
  const std::string& problem() const { return problem_; }
  std::size_t measured() const { return measured_.size(); }  // cgroups

 private:
  bool find_cpus();
  void begin();
  void choose();
  void take(const meters::WantedCgroup& wanted);
  void note(const std::string& problem);
  std::size_t most_cgroups() const;

  const HostRoot& host_;
  Options options_;
  DescriptorBudget no_descriptors_{0};
  Processors processors_;
  std::string online_;  // as the kernel lists the CPUs
  std::vector<CpuUsage> cpus_;
  std::vector<EventCounts> counts_;                 // of the events that can be counted
  std::map<std::string, std::string> not_counted_;  // why the others are not, by the name of the file
  meters::WantedCgroups wanted_;
  std::optional<Nanoseconds> chosen_;  // when cgroups were chosen
  std::set<std::uint64_t> measured_;
  std::string problem_, problem_of_choice_;
};

}  // namespace keplerd::perf
