// SPDX-License-Identifier: Apache-2.0
// Reads who used the CPU: the host's ticks, the groups, the processes.
#pragma once

#include <memory>

#include "base/result.h"
#include "base/units.h"
#include "usage/cgroup_tree.h"
#include "usage/process_table.h"
#include "usage/usage_sample.h"

namespace keplerd {

class HostRoot;

class UsageReader {
 public:
  // `host` must outlive the reader.
  explicit UsageReader(const HostRoot& host);

  // Replaces `sample`; its views are valid until the next call. Fails only where /proc/stat cannot be read.
  Result<Done> read(Nanoseconds boottime, UsageSample& sample);

  // Groups that are not told apart from their parents, because there are too many or they are nested too
  // deeply.
  std::size_t groups_left_out() const { return tree_ ? tree_->left_out() : 0; }

 private:
  const HostRoot& host_;
  std::unique_ptr<CgroupTree> tree_;  // none without cgroup2
  ProcessTable processes_;
};

}  // namespace keplerd
