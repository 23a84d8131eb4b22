// SPDX-License-Identifier: Apache-2.0
// Logs what the meter finds: each change once, and recurring faults at most once a minute.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attribution/attributor.h"
#include "base/units.h"
#include "daemon/fault_log.h"
#include "energy/zone.h"
#include "report/report.h"
#include "usage/usage_reader.h"

namespace keplerd {

class MeterLog {
 public:
  // Call it after each search for a source. `missing`: why there is none; empty: there is one. `change`:
  // unset if it has not changed.
  void source(const std::string& missing, const std::optional<std::string>& change);

  // Replaces the three calls that follow.
  void cannot_sample(const std::string& reason);

  // Logs which of `zones` have become unreadable, or readable again, and whose energy was not counted in a
  // window. Times are on CLOCK_MONOTONIC.
  void sampled(const Sample& sample, const Attribution& attribution, const std::vector<Zone>& zones);
  void refused(std::span<const RefusedClaim> claims, Nanoseconds now);
  // Logs when there are more cgroups or processes than can have rows, and when that is over.
  void left_out(const UsageReader& usage, Nanoseconds now);
  // Logs once which usage files (keplerd-meters(7)) are not read, and why; again if that has been over.
  void usage_files(const UsageReader& usage);

 private:
  void report(const std::string& what, const std::string& update, bool is_fault, Nanoseconds now);
  void report_limit(bool& reported, bool is_over, const std::string& what, const std::string& fault,
                    const std::string& end, Nanoseconds now);

  FaultLog faults_;  // of level warning
  FaultLog notes_;   // of level info
  bool has_no_source_ = false;
  bool cannot_sample_ = false;
  std::vector<bool> zone_failed_;
  bool groups_left_out_ = false, groups_unwatched_ = false, ends_unwatched_ = false,
       processes_left_out_ = false;
  std::vector<std::string> usage_files_left_out_;
};

}  // namespace keplerd
