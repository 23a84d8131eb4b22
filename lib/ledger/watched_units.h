// SPDX-License-Identifier: Apache-2.0
// Units that clients measure (org.keplerd.Energy.Measure): such a unit, and the processes that ended in it or
// below it, are kept whatever the limits for ended workloads are.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "ledger/account.h"
#include "ledger/unit_ledger.h"

namespace keplerd {

struct WatchedUnit {
  std::string id;
  std::optional<Uid> user;  // watched only if it is this user's; unset: whose ever it is
};

class WatchedUnits {
 public:
  // Of these processes each ordinary user has at most this many kept, and all others together: those with the
  // most energy.
  static constexpr std::size_t kMostProcesses = 1'000;

  void set(std::vector<WatchedUnit> watched) { watched_ = std::move(watched); }

  // Finds their accounts, which stay valid until a unit is removed.
  void find_in(const UnitLedger& units);

  bool contains(const UnitAccount& unit) const { return accounts_.contains(&unit); }
  // Whether it is one of them or below one. Null: no.
  bool covers(const UnitAccount* unit) const;

 private:
  std::vector<WatchedUnit> watched_;
  std::unordered_set<const UnitAccount*> accounts_;
};

}  // namespace keplerd
