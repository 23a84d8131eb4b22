// SPDX-License-Identifier: Apache-2.0
// Records claims to ids of other owners, for the administrator. Bounded, whatever users do.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "report/report.h"
#include "workloads/owner.h"

namespace keplerd {

class RefusedClaims {
 public:
  // Keeps one entry, with a count, per kind and claimant; beyond 100 the oldest is dropped. A claimant is a
  // user, regardless of where the claim is made, or the outermost container of root's: otherwise, either
  // could create any number of containers to make claims in.
  void add(std::string kind, std::string id, const Claimant& claimant, Realtime at);

  // The entries that were added or counted since the last call.
  std::vector<RefusedClaim> take_changed();

  // All of them, current; null: none.
  std::shared_ptr<const std::vector<RefusedClaim>> all() const;

 private:
  std::vector<RefusedClaim> claims_;
  Realtime taken_{0};
};

}  // namespace keplerd
