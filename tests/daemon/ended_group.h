// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "support/fake_host.h"

namespace keplerd {

// Ends a group with all inside it, on the host and in the test's own lists of groups by path and of processes
// by pid. `path`: a copy, as the one in the list is erased.
template <class Group, class Process>
void end_group(FakeHost& files, const std::string path, std::map<std::string, Group>& groups,
               std::map<pid_t, Process>& processes) {
  const auto inside = [&](const std::string& other) {
    return other == path || other.starts_with(path + "/");
  };
  std::erase_if(processes, [&](const auto& entry) {
    if (!inside(entry.second.group)) return false;
    files.remove_process(entry.first);
    return true;
  });
  files.remove_cgroup(path);
  std::erase_if(groups, [&](const auto& entry) { return inside(entry.first); });
}

}  // namespace keplerd
