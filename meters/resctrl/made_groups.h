// SPDX-License-Identifier: Apache-2.0
// The monitoring groups that keplerd makes: one for each wanted cgroup, as long as the hardware has some.
// Those of others, and the threads in them, are never touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "meters/counts/wanted_cgroups.h"
#include "meters/resctrl/group_files.h"

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
    std::size_t waiting = 0;          // likewise, until caches have forgotten groups that were removed
    std::vector<std::string> others;  // cgroups with threads in groups of others, which have none therefore
    std::string problem;              // why nothing could be made, or something has failed; empty: nothing
  };
  // Makes groups for these cgroups, and moves their threads there, the first ones first; removes the groups
  // of all others that an earlier call or another run has made. `wanted`: none is inside another one; those
  // that are named come first. Of the others, one that has a group keeps it until it is far down in the list.
  // Nothing is changed if it is not known which threads are in groups of others. Valid until the next call.
  const Outcome& follow(const std::vector<meters::WantedCgroup>& wanted);
  // Removes all of them.
  Result<Done> remove_all();

 private:
  using Threads = std::set<std::int32_t>;
  struct Present {
    std::map<std::uint64_t, Threads> own;  // by identity of the cgroup
    Threads of_others;
    std::size_t others = 0;  // groups, which use an RMID each: the default one is one of them
  };
  struct Chosen {
    const meters::WantedCgroup* cgroup;
    Threads threads;
  };
  Result<Present> look() const;
  std::optional<Error> add_tasks(const std::string& group, Threads& threads) const;
  std::vector<Chosen> find_eligible(const std::vector<meters::WantedCgroup>& wanted, const Present& present);
  std::vector<Chosen> choose(std::vector<Chosen> eligible, const Present& present) const;
  void empty(const std::vector<Chosen>& chosen, Present& present);
  Result<Done> make(const meters::WantedCgroup& cgroup, const std::vector<Chosen>& chosen, Present& present);
  bool remove(std::uint64_t identity, Present& present);
  bool note(const Result<Done>& done);
  bool may_move(std::int32_t thread);
  void move(const Threads& threads, const Threads& except, const std::string& name);

  const HostRoot& host_;
  GroupFiles& files_;
  Outcome outcome_;
};

}  // namespace keplerd::resctrl
