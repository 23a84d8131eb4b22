// SPDX-License-Identifier: Apache-2.0
// What the database knows of a span of time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "history/reading.h"
#include "history/store/database.h"

namespace keplerd::history {

// The whole of what is recorded: from the first span to the last reading. Unset: nothing is.
std::optional<Span> recorded_span(Database& database);

// What was recorded in spans that are inside `span`; of a longer one that reaches beyond it nothing, if its
// parts are not kept any more.
struct Summary {
  Time recorded{0};
  Accounts accounts;
};
Summary summary_of(Database& database, const Span& span);

struct WorkloadEnergy {
  WorkloadKey key;
  std::string name;
  Amounts amounts;  // with what is nested in it
};

// Which workloads: all of a kind, those with an id, those of an owner.
struct Selection {
  Kind kind{};
  std::optional<std::string> id;
  std::optional<uid_t> owner;
};
// Those that drew, in the order of their keys. Sums of the same spans as summary_of().
std::vector<WorkloadEnergy> energy_of(Database& database, const Span& span, const Selection& selection);

// The ids of workloads of this kind, and of this owner if that is set, with this id or name.
std::vector<std::string> find_ids(Database& database, const Selection& selection, const std::string& name);

}  // namespace keplerd::history
