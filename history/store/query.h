// SPDX-License-Identifier: Apache-2.0
// What the database knows of a span of time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cost/rounding.h"
#include "history/reading.h"
#include "history/store/database.h"

namespace keplerd::history {

// The whole of what is recorded: from the first span to the last reading. Unset: nothing is.
std::optional<Span> recorded_span(Database& database);

struct Summary {
  Time recorded{0};
  Accounts accounts;
};

// The longest spans inside `span`, none of which is part of another; of a longer one that reaches beyond it
// nothing, if its parts are not kept any more.
struct RecordedSpan {
  std::int64_t number = 0;
  Span span;
  Time recorded{0};
  Accounts accounts;
};
std::vector<RecordedSpan> spans_inside(Database& database, const Span& span);
// The next shorter ones that this one is the sum of, as far as they are kept.
std::vector<RecordedSpan> parts_of(Database& database, const RecordedSpan& whole);

// Energy times the price, and times the carbon intensity, of the time in which it was drawn.
struct Rated {
  RatedEnergy price = 0, carbon = 0;

  Rated& operator+=(const Rated& other) {
    price += other.price;
    carbon += other.carbon;
    return *this;
  }
  Rated& operator-=(const Rated& other) {
    price -= other.price;
    carbon -= other.carbon;
    return *this;
  }
};

struct WorkloadEnergy {
  WorkloadKey key;
  std::string name;
  Amounts amounts;  // with what is nested in it
  Rated rated = {};
  Project project = {};
};

// Which workloads: all of a kind, those with an id, those of an owner.
struct Selection {
  Kind kind{};
  std::optional<std::string> id;
  std::optional<uid_t> owner;
};

// The ids of workloads of this kind, and of this owner if that is set, with this id or name.
std::vector<std::string> find_ids(Database& database, const Selection& selection, const std::string& name);

struct FoundWorkload {
  std::int64_t number = 0;
  std::optional<uid_t> owner;
};
// Those with this id, or else with this name, that may have drawn since then.
std::vector<FoundWorkload> find_workloads(Database& database, Kind kind, const std::string& name, Time since);

// Whether root or the system has or had one with this id or name.
bool system_has(Database& database, Kind kind, const std::string& name);

// The key in three columns of a row: kind, id and owner.
WorkloadKey key_of(const Statement& row, int column);

}  // namespace keplerd::history
