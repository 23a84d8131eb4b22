// SPDX-License-Identifier: Apache-2.0
// Which cgroup each monitoring group holds: one whose threads, with those of the cgroups below it, are the
// group's, all of them and no others. A group that has CPUs holds none: it also counts what the tasks of the
// default group do on these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "meters/resctrl/groups.h"

namespace keplerd {
class HostRoot;
}

namespace keplerd::resctrl {

class HeldCgroups {
 public:
  // `host` must outlive it.
  explicit HeldCgroups(const HostRoot& host) : host_(host) {}

  // By the id of the group: the identity (read_identity()) of the cgroup that it holds at present. The
  // default group is not looked at, nor are those without tasks. Threads that are created or end meanwhile do
  // not matter, except in a control group with monitoring groups inside; nor do those that have ended and are
  // still listed, such as zombies.
  std::map<std::uint64_t, std::uint64_t> find(const std::vector<Group>& groups);

 private:
  using Threads = std::vector<std::int32_t>;
  struct Tasks {
    const Group* group = nullptr;
    Threads threads;
    int refreshes = 0;  // that are left
  };
  bool has_cpus(const Group& group) const;
  // By group; only those that could be read.
  std::map<std::uint64_t, Tasks> read_all(const std::vector<Group>& groups) const;
  std::optional<std::uint64_t> find_one(Tasks& tasks);
  bool has_thread(Tasks& tasks, std::int32_t thread) const;
  bool runs(std::int32_t thread) const;
  std::string cgroup_of(std::int32_t thread) const;
  bool collect(const std::string& path, Tasks& tasks, Threads& found);

  const HostRoot& host_;
  std::size_t left_to_visit_ = 0;  // cgroups, for the present group
};

}  // namespace keplerd::resctrl
