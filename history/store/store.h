// SPDX-License-Identifier: Apache-2.0
// The database of what was drawn. Each write is one transaction, together with the counters it was computed
// from: whatever happens, the next difference begins where the last one that was written ended.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "history/booking.h"
#include "history/reading.h"
#include "history/settings.h"
#include "history/store/database.h"
#include "history/store/energies.h"

namespace keplerd::history {

class Store {
 public:
  // A file that is damaged is renamed to PATH.damaged-TIME, and a new one is begun: `set_aside` is then its
  // new name.
  static Result<Store> open(const std::string& path, const Settings& settings, Time now);
  const std::string& set_aside() const { return set_aside_; }

  // The counters at the last reading that was written; unset: none was.
  const std::optional<Baseline>& baseline() const { return baseline_; }

  // Adds `bookings`, which were drawn between baseline() and `reading`, and makes that the baseline. `names`:
  // of their workloads. Then sums up the hours, days and months that are over, and deletes what is older than
  // it is kept. On an error, nothing of it is done.
  struct Name {
    std::string name;
    Project project;

    bool operator==(const Name&) const = default;
  };
  using Names = std::map<WorkloadKey, Name>;
  Result<Done> write(const Bookings& bookings, const Names& names, Baseline reading);

  Database& database() { return database_; }
  const std::string& path() const { return path_; }
  // Another one when workloads were added, named or deleted.
  std::uint64_t labels_version() const { return labels_version_; }

 private:
  Store(std::string path, const Settings& settings);

  void load_baseline();
  void add(const Place& place, const Bookings::Entry& entry, const Names& names);
  void add_to_span(std::int64_t span, const Bookings::Entry& entry, const Names& names, bool is_listed);
  std::int64_t span_number(int step, const Span& span);
  std::int64_t number_of(const WorkloadKey& key, const Names& names);
  std::int64_t number_of_one_that_draws(const WorkloadKey& key, const Names& names);
  void save_counters(const Baseline& reading, const Names& names);
  void sum_up(Time until);
  void sum_up(Step step, Time until);
  void add_parts(Step step, std::int64_t whole, const Span& span);
  void list_workloads(const Energies& energies);
  void forget(Time now);

  struct Known {
    std::int64_t number = 0;
    Name name;
    Time last{0};  // the end of the hour in which it was last known to draw
  };

  std::string path_;
  Settings settings_;
  Database database_;
  std::string set_aside_;
  std::optional<Baseline> baseline_;
  std::map<WorkloadKey, Known> known_;  // those of the baseline
  Time now_{0}, hour_end_{0};           // of the present write
  Time summed_up_until_{0};             // the end of the last hour
  std::uint64_t labels_version_ = 1;
};

}  // namespace keplerd::history
