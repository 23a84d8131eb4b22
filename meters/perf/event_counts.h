// SPDX-License-Identifier: Apache-2.0
// Counts one event on all CPUs: of cgroups, each with those below it, and of all that runs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "host/perf_counter.h"
#include "meters/counts/accounts.h"
#include "meters/perf/events.h"
#include "meters/perf/pmus.h"
#include "usage/usage_sample.h"

namespace keplerd::perf {

class EventCounts {
 public:
  EventCounts(const Event& event, OpenPerfCounter open);

  // Once, before all else: counts all that runs on these CPUs, and no cgroup yet. Fails if that cannot be
  // counted.
  Result<Done> begin(const std::vector<CpuUsage>& cpus, const Pmus& pmus);

  // Also counts the cgroup with this identity (read_identity()); `directory` may be closed afterwards.
  Result<Done> add(std::uint64_t cgroup, int directory);
  // No longer counts others than these.
  void keep(const std::set<std::uint64_t>& cgroups);

  // Takes a reading at `now` (CLOCK_BOOTTIME); returns the texts of the usage files of all dies by their
  // names.
  std::map<std::string, std::string> read(Nanoseconds now);

  // Some counters do not count any more, and another object has to begin: this happens if a CPU goes offline.
  bool is_lost() const { return is_lost_; }
  // Why nothing is known although the counters exist; empty if it is, or will soon be.
  const std::string& problem() const { return problem_; }
  const char* name() const { return event_.name; }

 private:
  struct Counters {
    std::vector<std::unique_ptr<PerfCounter>> of_cpus;
    std::vector<std::optional<PerfReading>> last;
  };
  using Sums = std::map<int, PerfReading>;  // of the steps since the last reading, by die

  Result<Counters> open(int directory) const;
  std::optional<Sums> read(Counters& counters, bool always_runs);
  Result<meters::Steps> take_steps(meters::Accounts::Held& held);

  Event event_;
  OpenPerfCounter open_;
  Pmus pmus_;
  std::vector<CpuUsage> cpus_;
  Counters all_;
  std::map<std::uint64_t, Counters> cgroups_;
  meters::Accounts accounts_;
  bool is_lost_ = false;
  int failures_ = 0;  // in succession
  std::string problem_;
};

// What a sum of steps says of the time in which the event should have been counted; nothing if it was counted
// in less than a quarter of it: whoever takes the counters away then would choose what is known.
std::optional<Count> extrapolate(const PerfReading& sum);

}  // namespace keplerd::perf
