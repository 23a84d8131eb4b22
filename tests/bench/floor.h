// SPDX-License-Identifier: Apache-2.0
// The kernel's part of a sample's cost: the same information as keplerd's, read in the cheapest known way,
// and discarded. All cgroups' CPU time through kept descriptors; for active groups, the processes and their
// CPU clocks. Groups that appear or disappear are not noticed.
#pragma once

#include <cstdint>
#include <vector>

#include "base/unique_fd.h"

namespace keplerd {

class Floor {
 public:
  // `cgroupfs`: descriptor of the cgroup2 root.
  explicit Floor(int cgroupfs);

  void read();

  std::size_t groups() const { return groups_.size(); }
  std::size_t clocks() const { return clocks_; }  // read by the last read()

 private:
  struct Group {
    UniqueFd cpu_stat, procs;
    std::int64_t usage = 0;
  };

  void add(UniqueFd directory);
  void read_clocks(const Group& group);

  std::vector<Group> groups_;
  UniqueFd ticks_;
  std::size_t clocks_ = 0;
};

}  // namespace keplerd
