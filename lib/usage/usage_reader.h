// SPDX-License-Identifier: Apache-2.0
// Reads CPU usage: the host's ticks, the groups, the processes.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "base/result.h"
#include "base/units.h"
#include "host/descriptor_budget.h"
#include "host/stat_file.h"
#include "usage/allowed_cpus.h"
#include "usage/cgroup_tree.h"
#include "usage/device_reader.h"
#include "usage/limit_reader.h"
#include "usage/process_table.h"
#include "usage/processors.h"
#include "usage/saved_usage.h"
#include "usage/usage_sample.h"

namespace keplerd {

class HostRoot;

struct UsageLimits {
  CgroupLimits groups;
  ProcessLimits processes;
  std::size_t descriptors = descriptors_to_hold();  // that both together may hold open
};

class UsageReader {
 public:
  // `host` must outlive the reader.
  explicit UsageReader(const HostRoot& host, UsageLimits limits = {});

  // Before the first read(): its window begins with a sample of an earlier run on the same boot.
  void resume(const SavedUsage& saved);

  // What has changed with `sample`, which is the last one; and all there is. Without the time of the sample.
  SavedUsage changed(const UsageSample& sample) const;
  SavedUsage all(const UsageSample& sample) const;

  // Which processes are read, from the next read on.
  void demand(ProcessDemand demand) { processes_.demand(std::move(demand)); }

  // Replaces `sample`; its views are valid until the next call of this or take_group_events(). Fails only if
  // /proc/stat cannot be read.
  Result<Done> read(Nanoseconds boottime, UsageSample& sample);

  // From the next read on, a sample includes what the CPUs did, and on which of them groups may run.
  // `runs_vm`: as AllowedCpus has it.
  void read_processors(AllowedCpus::RunsVm runs_vm) { runs_vm_ = std::move(runs_vm); }

  // From the next read on, a sample includes what groups and the host may use at most, or not.
  void read_limits(bool wanted);

  // Groups merged into their parents, because there are too many or they are nested too
  // deeply.
  std::size_t groups_left_out() const { return tree_ ? tree_->left_out() : 0; }
  // Groups that inotify cannot watch.
  std::size_t groups_unwatched() const { return tree_ ? tree_->unwatched() : 0; }
  // As in CgroupTree.
  std::uint64_t missed_ends() const { return tree_ ? tree_->missed_ends() : 0; }
  bool misses_ends() const { return tree_ && tree_->misses_ends(); }
  // Between two reads, when the descriptor (-1: none) is readable: takes what has happened to groups.
  int group_descriptor(CgroupQueue queue) const { return tree_ ? tree_->event_descriptor(queue) : -1; }
  void take_group_events(CgroupQueue queue) {
    if (tree_) tree_->take_events(queue);
  }
  // Whose use is known, and why that of others is not.
  const DeviceReader& devices() const { return devices_; }
  // Processes not tracked separately from the rest of their groups, because there are too many.
  std::size_t processes_left_out() const { return processes_.left_out(); }

 private:
  const HostRoot& host_;
  DescriptorBudget descriptors_;
  StatFile stat_;
  std::unique_ptr<CgroupTree> tree_;  // none without cgroup2
  ProcessTable processes_;
  Processors processors_;
  AllowedCpus allowed_cpus_;
  DeviceReader devices_;
  std::optional<LimitReader> limits_;     // unset: they are not read
  std::optional<bool> interrupts_apart_;  // as UsageSample has it: the kernel does not change that
  AllowedCpus::RunsVm runs_vm_;           // none: processors are not read
};

}  // namespace keplerd
