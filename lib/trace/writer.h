// SPDX-License-Identifier: Apache-2.0
// Writes a trace: what the attributor got, as lines of JSON, so that it can be divided again
// (keplerd-trace(5)). Pure. A line states only what has changed since the one before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attribution/sample.h"
#include "energy/zone.h"
#include "trace/name_scrambler.h"

namespace keplerd {

inline constexpr std::string_view kTraceFormat = "org.keplerd.Trace1";

struct TraceSettings {
  std::optional<std::string> host = {};       // names the machine; unset: not known
  std::optional<HashKey> scramble_with = {};  // set: names are scrambled, and the host is not named
};

// A cgroup that is a VM's.
struct TracedVm {
  std::string_view path;
  std::string_view id;
};

class TraceWriter {
 public:
  explicit TraceWriter(TraceSettings settings = {});

  // The lines, each with its newline, of a sample: a header before the first one, and when zones or CPUs have
  // changed. `zones`: those of its readings.
  std::string write(const Sample& sample, std::span<const Zone> zones, std::span<const TracedVm> vms = {});

  // A sample that is left out: the window of the next line is longer.
  void leave_out(const Sample& sample);

 private:
  struct Group {
    std::uint64_t incarnation = 0;
    Nanoseconds usage{0};
    std::uint64_t seen = 0;  // number of the sample
    std::string shown;       // its path, quoted
    std::vector<int> cpus;   // on which it may run; empty: all
    GroupLimits limits;
  };
  struct Lists;
  std::string header(const Sample& sample, std::span<const Zone> zones) const;
  std::string quoted(std::string_view path) const;
  void write_groups(const UsageSample& usage, Lists& lists);
  void write_class(const UsageSample& usage, const GroupUsage& group_usage, Group& group, Lists& lists);
  void write_processes(const UsageSample& usage, Lists& lists);
  void write_vms(std::span<const TracedVm> vms, Lists& lists);
  void add_kernel_time(const UsageSample& usage);

  TraceSettings settings_;
  std::optional<NameScrambler> scrambler_;
  std::string header_;  // the last one
  std::uint64_t number_ = 0, left_out_ = 0;
  std::unordered_map<std::string, Group> groups_;  // by path
  std::map<ProcessId, std::optional<Nanoseconds>>
      outside_;                   // processes outside any group, and their CPU time
  std::vector<ProcessId> ended_;  // of these
  std::map<std::string, std::string, std::less<>> vms_;
  Nanoseconds kernel_{0};  // CPU time of kernel threads outside any group since the first sample
};

}  // namespace keplerd
