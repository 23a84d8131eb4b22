// SPDX-License-Identifier: Apache-2.0
// Which workload a group counts for in a power model: the innermost container or VM that it is in, else its
// unit. A workload keeps its key when it is restarted. A group younger than a minute counts for the workload
// of its parent, because nothing can be learned of it yet.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/units.h"
#include "usage/usage_sample.h"

namespace keplerd {

// The topmost cgroup of the workload that the cgroup `path` belongs to.
std::string_view workload_path(std::string_view path);

class WorkloadKeys {
 public:
  // Sets `keys` to those of the groups of the sample at the end of a window. Keys are never 0.
  void find(const UsageSample& usage, Nanoseconds window, std::vector<std::uint64_t>& keys);

  std::uint64_t key_of(std::string_view path);
  // The path that `key` stands for; empty if it is no longer known.
  std::string_view path_of(std::uint64_t key) const;

 private:
  struct Group {
    std::uint64_t key = 0;
    Nanoseconds born{0};
    std::uint64_t seen = 0;  // number of the window
  };
  void forget_ended(std::size_t running);

  Nanoseconds now_{0};
  std::uint64_t windows_ = 0, last_key_ = 0;
  std::unordered_map<std::uint64_t, Group> groups_;  // by incarnation
  std::unordered_map<std::string, std::uint64_t> keys_;
  std::unordered_map<std::uint64_t, std::string> paths_;
};

}  // namespace keplerd
