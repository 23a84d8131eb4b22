// SPDX-License-Identifier: Apache-2.0
// Who has claimed what is another's, for the admin to see. Bounded, whatever users do.
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
  // Of one kind and claimant there is one entry, which counts; of more than 100 the oldest goes. A claimant
  // is a user, wherever he claims it, or the outermost container of root's: either could make any number of
  // containers to claim it in.
  void add(std::string kind, std::string id, const Claimant& claimant, Realtime at);

  // The entries that were added or counted since the last call.
  std::vector<RefusedClaim> take_changed();

  // All of them as they are now; null: none.
  std::shared_ptr<const std::vector<RefusedClaim>> all() const;

 private:
  std::vector<RefusedClaim> claims_;
  Realtime taken_{0};
};

}  // namespace keplerd
