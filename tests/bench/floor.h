// SPDX-License-Identifier: Apache-2.0
// What the kernel charges for a sample: the same information as keplerd's, read in the cheapest way that is
// known, and nothing done with it. All cgroups' CPU time through kept descriptors; of the groups that moved,
// the processes and their CPU clocks. What comes and goes is not noticed.
#pragma once

#include <cstdint>
#include <vector>

#include "base/unique_fd.h"

namespace keplerd {

class Floor {
 public:
  // `cgroupfs`: the descriptor of the cgroup2 root.
  explicit Floor(int cgroupfs);

  void read();

  std::size_t groups() const { return groups_.size(); }
  std::size_t clocks() const { return clocks_; }  // that the last read() has read

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
