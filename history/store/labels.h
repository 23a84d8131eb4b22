// SPDX-License-Identifier: Apache-2.0
// Which workload a number in the database stands for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "history/store/period_sum.h"
#include "history/store/query.h"

namespace keplerd::history {

struct Label {
  WorkloadKey key;
  std::string name;
  Project project;
};

// Looks them up in the database, and keeps them until they change.
class Labels {
 public:
  explicit Labels(Database& database) : database_(database) {}

  // Null: there is no such workload any more. Valid until the next call. `version` is another one when labels
  // have changed (Store::labels_version()).
  const Label* find(std::int64_t workload, std::uint64_t version);

 private:
  Database& database_;
  std::optional<Statement> query_;
  std::uint64_t version_ = 0;
  std::unordered_map<std::int64_t, std::optional<Label>> known_;
};

// Those of `sums` that are selected, in the order of their keys.
std::vector<WorkloadEnergy> select(const std::vector<PeriodSum::Sum>& sums, const Selection& selection,
                                   const std::function<const Label*(std::int64_t workload)>& find);

}  // namespace keplerd::history
