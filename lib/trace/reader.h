// SPDX-License-Identifier: Apache-2.0
// Reads a trace (keplerd-trace(5)) line by line, and makes of it the samples that the attributor got. Pure.
// The trace may be anybody's: every number is bounded, so that no division of it overflows.
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
#include "base/result.h"
#include "energy/zone.h"
#include "trace/traced_groups.h"
#include "trace/value.h"

namespace keplerd {

class Attributor;

inline constexpr std::size_t kLongestTraceLine = 64 << 20;

class TraceReader {
 public:
  enum class Line { kHeader, kSample };

  // Takes the next line, without its newline. After an error nothing more may be taken. Views in the sample
  // are valid until the next call.
  Result<Line> take(std::string_view line);

  // After a sample.
  const Sample& sample() const { return sample_; }
  // It is the first one of a recording: nothing is known of the time before.
  bool begins() const { return begins_; }
  // Of its readings, and whether they have changed since the sample before.
  const std::vector<Zone>& zones() const { return zones_; }
  bool zones_changed() const { return zones_changed_; }
  // Samples that were left out between it and the one before.
  std::int64_t left_out() const { return left_out_; }

 private:
  struct Cpu {
    CpuUsage place;  // where it is
    std::optional<CpuTicks> last;
  };
  Result<Done> take_header(const TraceValue& header);
  Result<Done> take_sample(const TraceValue& sample);
  Result<Done> take_time(const TraceValue& sample);
  Result<Done> take_counters(const TraceValue& sample);
  Result<Done> take_cpus(const TraceValue& sample);
  Result<Done> take_processes(const TraceValue& sample);
  using Times = std::unordered_map<std::string_view, const TraceValue*>;
  Result<Done> take_process(const std::string& name, const TraceValue& time, const Times& before);
  void add_process(ProcessId id, Nanoseconds usage, std::optional<Nanoseconds> before, bool is_kernel);
  Result<Done> bound_time();

  bool has_header_ = false;
  bool section_begins_ = false;  // with the next sample
  bool begins_ = false, zones_changed_ = false, new_zones_ = false;
  std::vector<Zone> zones_;
  std::vector<Cpu> cpus_;
  TracedGroups groups_;
  std::map<ProcessId, Nanoseconds> outside_;
  std::optional<Nanoseconds> kernel_;
  Sample sample_;
  std::int64_t left_out_ = 0, time_ = 0;
};

// After a sample: gives `attributor`, which divides all samples of this trace, the zones of its readings.
void follow_zones(const TraceReader& trace, Attributor& attributor);

}  // namespace keplerd
