// SPDX-License-Identifier: Apache-2.0
// The monitoring groups that keplerd makes: one for each wanted cgroup, as long as the hardware has some.
// Those of others, and the threads in them, are never touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "meters/resctrl/group_files.h"
#include "meters/resctrl/wanted_cgroups.h"

namespace keplerd {
class HostRoot;
}

namespace keplerd::resctrl {

// The names of groups that are ours: this and the identity of the cgroup. Only root can make groups.
inline constexpr char kOwnPrefix[] = "keplerd-";

class MadeGroups {
 public:
  // Both must outlive it.
  MadeGroups(const HostRoot& host, GroupFiles& files) : host_(host), files_(files) {}

  struct Outcome {
    std::size_t made = 0;             // groups that there are now
    std::size_t refused = 0;          // wanted, but the hardware has no more groups
    std::vector<std::string> others;  // cgroups with threads in groups of others, which have none therefore
    std::string problem;              // why nothing could be made, or something has failed; empty: nothing
  };
  // Makes groups for these cgroups, and moves their threads there, the first ones first; removes the groups
  // of all others that an earlier call or another run has made. `wanted`: none is inside another one. Valid
  // until the next call.
  const Outcome& follow(const std::vector<WantedCgroup>& wanted);
  // Removes all of them.
  Result<Done> remove_all();

 private:
  using Threads = std::set<std::int32_t>;
  struct Present {
    std::map<std::uint64_t, Threads> own;  // by identity of the cgroup
    Threads of_others;
    std::size_t count = 0;  // of monitoring groups
    std::size_t most_of_largest = 0;
  };
  using Eligible = std::map<std::uint64_t, Threads>;  // the threads of a cgroup, by its identity
  Result<Present> look() const;
  Eligible find_eligible(const std::vector<WantedCgroup>& wanted, const Present& present);
  void empty(const Eligible& eligible, Present& present);
  bool make(const WantedCgroup& cgroup, Present& present);
  bool note(const Result<Done>& done);
  std::size_t most_of_largest() const;
  Result<Done> move(const Threads& threads, const Threads& except, const std::string& name);

  const HostRoot& host_;
  GroupFiles& files_;
  Outcome outcome_;
};

}  // namespace keplerd::resctrl
