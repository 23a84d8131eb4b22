// SPDX-License-Identifier: Apache-2.0
// What processes had used at the last sample of an earlier run, while the first sample is read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "usage/saved_usage.h"
#include "usage/usage_sample.h"

namespace keplerd {

class SavedProcesses {
 public:
  explicit SavedProcesses(const SavedUsage& saved);

  // Finds the groups of the sample whose processes are read next.
  void find_groups(const UsageSample& sample);

  // As ProcessUsage::before of a process that has used `usage` by now; unset if it was not saved.
  std::optional<ProcessUsage::Before> before(ProcessId id, Nanoseconds usage) const;

  // When they were saved.
  Nanoseconds boottime() const { return boottime_; }

 private:
  Nanoseconds boottime_;
  std::map<ProcessId, SavedUsage::Process> processes_;
  std::map<std::uint64_t, std::uint64_t> incarnations_;  // by identity
};

}  // namespace keplerd
