// SPDX-License-Identifier: Apache-2.0
// Reads processes, and looks at what was read.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include <gtest/gtest.h>

#include "usage/cgroup_tree.h"
#include "usage/process_table.h"

namespace keplerd {

class ProcessesTest : public testing::Test {
 protected:
  void read(Nanoseconds after = std::chrono::seconds(1)) {
    boottime_ += after;
    sample_.forks = forks_;
    tree_->read(sample_.groups, forks_);
    table_->read(tree_.get(), boottime_, sample_);
  }

  // What is new has been read often enough.
  void settle() {
    read();
    read(std::chrono::seconds(11));
    table_->demand({.all = false, .needed = {}, .groups = {}});
  }

  const ProcessUsage* find(std::int32_t pid) const {
    const auto found =
        std::ranges::find_if(sample_.processes, [&](const ProcessUsage& p) { return p.id.pid == pid; });
    return found == sample_.processes.end() ? nullptr : &*found;
  }

  // How often the process is among those that have ended. A read of all processes may have found that others
  // of this host have, too.
  std::ptrdiff_t times_ended(std::int32_t pid) const {
    return std::ranges::count(sample_.ended, pid, &ProcessId::pid);
  }

  bool is_behind(std::string_view path) const {
    const auto group = std::ranges::find(sample_.groups, path, &GroupUsage::path);
    return group->behind;
  }

  DescriptorBudget none_held_{0};
  std::unique_ptr<CgroupTree> tree_;
  std::unique_ptr<ProcessTable> table_;
  UsageSample sample_;
  Nanoseconds boottime_ = std::chrono::seconds(1000);
  std::uint64_t forks_ = 0;  // unknown
};

}  // namespace keplerd
