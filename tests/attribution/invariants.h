// SPDX-License-Identifier: Apache-2.0
// The invariants of every division, whatever the host did (those of attribution/attributor.h).
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "attribution/attributor.h"
#include "attribution/sample.h"

namespace keplerd {

// Fails the running test unless, for each zone, to the microjoule and whatever the model returns:
//   idle + kernel + all groups' own + processes outside any group + unattributed = energy = the zone's delta
//   processes + other + put off = own of a group;   own + children = a group
//   late of its processes + late other = late of a group;   nothing is negative.
// `deltas`: the energy each zone is known to have drawn in the window; 0 if none may be reported.
void expect_exact_sums(const Attribution& attribution, const Sample& sample,
                       const std::vector<Microjoules>& deltas);

// All of this, and that contenders without CPU time get nothing.
void expect_invariants(const Attribution& attribution, const Sample& sample,
                       const std::vector<Microjoules>& deltas);

// Of all windows of an attributor, in their order: what was put off for a group is divided, all of it, with
// the first sample at which the group is not behind. Nothing is put off for others.
class ExpectDeferred {
 public:
  void window(const Attribution& attribution, const Sample& sample);
  // The zones are others.
  void change_zones() { owed_.clear(); }

 private:
  std::map<std::pair<std::uint64_t, std::size_t>, Microjoules> owed_;  // by incarnation and zone
};

}  // namespace keplerd
