// SPDX-License-Identifier: Apache-2.0
#include "history/store/store.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <sqlite3.h>

#include "history/store/schema.h"

namespace keplerd::history {
namespace {

constexpr int kInterruption = 0;  // for a step

int step_number(Step step) { return static_cast<int>(step); }

std::optional<std::int64_t> owner_number(const WorkloadKey& key) {
  if (!key.owner) return std::nullopt;
  return static_cast<std::int64_t>(*key.owner);
}

std::string kind_text(Kind kind) { return std::string(client::name_of(kind)); }

Error error_of(const DatabaseError& error, const std::string& path) {
  return {path + ": " + error.what(), error.is_corrupt() ? EUCLEAN : EIO};
}

// As long as the file exists, so do its log and its index.
std::string set_file_aside(const std::string& path, Time now) {
  const std::string aside =
      fmt::format("{}.damaged-{}", path, std::chrono::duration_cast<std::chrono::seconds>(now).count());
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::error_code error;
    std::filesystem::rename(path + suffix, aside + suffix, error);
    if (error && error != std::errc::no_such_file_or_directory)
      throw std::filesystem::filesystem_error("rename", path + suffix, error);
  }
  return aside;
}

}  // namespace

Store::Store(std::string path, const Settings& settings)
    : path_(std::move(path)), settings_(settings), database_(path_) {
  // A write is on disk when it is reported as done.
  database_.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  Statement check = database_.prepare("PRAGMA quick_check(1)");
  if (!check.step() || check.text(0) != "ok")
    throw DatabaseError("damaged: " + check.text(0), SQLITE_CORRUPT);
  check.reset();
  prepare_schema(database_);
  load_baseline();
}

Result<Store> Store::open(const std::string& path, const Settings& settings, Time now) {
  try {
    try {
      return Store(path, settings);
    } catch (const DatabaseError& error) {
      if (!error.is_corrupt()) throw;
    }
    const std::string aside = set_file_aside(path, now);
    Store store(path, settings);
    store.set_aside_ = aside;
    return store;
  } catch (const DatabaseError& error) {
    return error_of(error, path);
  } catch (const std::filesystem::filesystem_error& error) {
    return system_error(path, error.code().value());
  }
}

void Store::load_baseline() {
  Statement last =
      database_.prepare("SELECT time, instance, idle, kernel, workloads, unattributed FROM last_reading");
  if (!last.step()) return;
  Baseline baseline{Time(last.integer(0)),
                    last.text(1),
                    {{last.integer(2)}, {last.integer(3)}, {last.integer(4)}, {last.integer(5)}},
                    {}};
  Statement counters = database_.prepare(
      "SELECT kind, id, owner, name, number, since, active, counters.idle, project_id, project, last "
      "FROM counters JOIN workloads ON number = workload");
  while (counters.step()) {
    const WorkloadKey key = key_of(counters, 0);
    known_[key] = {counters.integer(4),
                   {counters.text(3), {counters.text(8), counters.text(9)}},
                   Time(counters.integer(10))};
    baseline.counters[key] = {Time(counters.integer(5)), {{counters.integer(6)}, {counters.integer(7)}}};
  }
  baseline_ = std::move(baseline);
}

Result<Done> Store::write(const Bookings& bookings, const Names& names, Baseline reading) {
  try {
    now_ = reading.time;
    hour_end_ = span_of(Step::kHour, now_).end;
    Transaction transaction(database_);
    for (const auto& [place, entry] : bookings.entries()) add(place, entry, names);
    save_counters(reading, names);
    sum_up(reading.time);
    transaction.commit();
  } catch (const DatabaseError& error) {
    // Rolled back: so is what it numbered.
    known_.clear();
    ++labels_version_;
    summed_up_until_ = Time{0};
    return error_of(error, "database");
  }
  baseline_ = std::move(reading);
  std::erase_if(known_, [&](const auto& known) { return !baseline_->counters.contains(known.first); });
  return Done{};
}

void Store::add(const Place& place, const Bookings::Entry& entry, const Names& names) {
  std::int64_t span =
      span_number(place.is_regular ? step_number(Step::kFiveMinutes) : kInterruption, place.span);
  // If the clock was set back: it may have been summed up already.
  Statement whole = database_.prepare("SELECT part_of FROM spans WHERE number = ?1");
  for (bool is_listed = !place.is_regular;; is_listed = true) {
    add_to_span(span, entry, names, is_listed);
    whole.bind(span);
    const auto part_of = whole.step() ? whole.optional_integer(0) : std::nullopt;
    if (!part_of) return;
    span = *part_of;
  }
}

void Store::add_to_span(std::int64_t span, const Bookings::Entry& entry, const Names& names, bool is_listed) {
  const Accounts& accounts = entry.accounts;
  database_
      .prepare(
          "UPDATE spans SET recorded = recorded + ?2, idle = idle + ?3, kernel = kernel + ?4, "
          "workloads = workloads + ?5, unattributed = unattributed + ?6 WHERE number = ?1")
      .bind(span, entry.recorded.count(), accounts.idle.value, accounts.kernel.value,
            accounts.workloads.value, accounts.unattributed.value)
      .run();
  Energies drawn, energies;
  for (const auto& [key, amounts] : entry.workloads) drawn[number_of_one_that_draws(key, names)] += amounts;
  if (drawn.empty()) return;
  add_packed(energies, packed_energies(database_, span));
  for (const auto& [workload, amounts] : drawn) energies[workload] += amounts;
  save_energies(database_, span, energies);
  if (is_listed) list_workloads(drawn);
}

std::int64_t Store::span_number(int step, const Span& span) {
  Statement find = database_.prepare("SELECT number FROM spans WHERE begin = ?1 AND step = ?2 AND end = ?3");
  if (find.bind(span.start.count(), step, span.end.count()).step()) return find.integer(0);
  database_.prepare("INSERT INTO spans VALUES (NULL, ?2, ?1, ?3, 0, 0, 0, 0, 0, NULL)")
      .bind(span.start.count(), step, span.end.count())
      .run();
  return database_.last_id();
}

std::int64_t Store::number_of(const WorkloadKey& key, const Names& names) {
  const auto named = names.find(key);
  Known& known = known_[key];
  if (known.number == 0) {
    Statement find = database_.prepare(
        "SELECT number, name, project_id, project, last FROM workloads "
        "WHERE kind = ?1 AND id = ?2 AND ifnull(owner, -1) = ?3");
    if (find.bind(kind_text(key.kind), key.id, owner_number(key).value_or(-1)).step()) {
      known = {find.integer(0), {find.text(1), {find.text(2), find.text(3)}}, Time(find.integer(4))};
    } else {
      database_.prepare("INSERT INTO workloads VALUES (NULL, ?1, ?2, ?3, ?4, ?5, 0, '', '')")
          .bind(kind_text(key.kind), key.id, owner_number(key), key.id, hour_end_.count())
          .run();
      known = {database_.last_id(), {key.id, {}}, hour_end_};
      ++labels_version_;
    }
  }
  if (named != names.end() && known.name != named->second) {
    known.name = named->second;
    const Project& project = known.name.project;
    database_.prepare("UPDATE workloads SET name = ?2, project_id = ?3, project = ?4 WHERE number = ?1")
        .bind(known.number, known.name.name, project.id, project.name)
        .run();
    ++labels_version_;
  }
  return known.number;
}

std::int64_t Store::number_of_one_that_draws(const WorkloadKey& key, const Names& names) {
  const std::int64_t number = number_of(key, names);
  Known& known = known_.at(key);
  if (known.last < hour_end_) {
    database_.prepare("UPDATE workloads SET last = ?2 WHERE number = ?1")
        .bind(number, hour_end_.count())
        .run();
    known.last = hour_end_;
  }
  return number;
}

// Only what has changed.
void Store::save_counters(const Baseline& reading, const Names& names) {
  Statement remove = database_.prepare("DELETE FROM counters WHERE workload = ?1");
  if (baseline_) {
    for (const auto& [key, counter] : baseline_->counters) {
      if (!reading.counters.contains(key)) remove.bind(number_of(key, names)).run();
    }
  }
  Statement save = database_.prepare("INSERT OR REPLACE INTO counters VALUES (?1, ?2, ?3, ?4)");
  for (const auto& [key, counter] : reading.counters) {
    if (baseline_) {
      const auto before = baseline_->counters.find(key);
      if (before != baseline_->counters.end() && before->second == counter) continue;
    }
    save.bind(number_of(key, names), counter.since.count(), counter.amounts.active.value,
              counter.amounts.idle.value)
        .run();
  }
  const Accounts& accounts = reading.accounts;
  database_.prepare("INSERT OR REPLACE INTO last_reading VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)")
      .bind(reading.time.count(), reading.instance, accounts.idle.value, accounts.kernel.value,
            accounts.workloads.value, accounts.unattributed.value)
      .run();
}

void Store::sum_up(Time until) {
  const Time hour = span_of(Step::kHour, until).start;
  if (hour == summed_up_until_) return;
  for (const Step step : {Step::kHour, Step::kDay, Step::kMonth}) sum_up(step, until);
  forget(until);
  summed_up_until_ = hour;
}

// Adds what is part of no longer span to the spans of `step` that are over. An interruption that is longer
// than such a span, or in two of them, waits for a longer one.
void Store::sum_up(Step step, Time until) {
  Statement find = database_.prepare(
      "SELECT begin, end FROM spans WHERE part_of IS NULL AND step < ?1 AND begin >= ?2 AND begin < ?3 "
      "ORDER BY begin, end LIMIT 1");  // of two that begin together the shorter one
  for (Time from{INT64_MIN};;) {
    if (!find.bind(step_number(step), from.count(), until.count()).step()) return;
    const Span first{Time(find.integer(0)), Time(find.integer(1))};
    const Span whole = span_of(step, first.start);
    if (whole.end <= until && first.end <= whole.end)
      add_parts(step, span_number(step_number(step), whole), whole);
    from = whole.end;
  }
}

void Store::add_parts(Step step, std::int64_t whole, const Span& span) {
  constexpr char kParts[] = "part_of IS NULL AND step < ?1 AND begin >= ?2 AND end <= ?3";
  Energies energies, of_whole;
  Statement parts = database_.prepare(
      fmt::format("SELECT energies.workloads FROM spans JOIN energies ON span = number WHERE {}", kParts));
  parts.bind(step_number(step), span.start.count(), span.end.count());
  while (parts.step()) add_packed(energies, parts.text(0));
  // Workloads that drew hardly anything are left out of hours, and so of longer spans.
  if (step == Step::kHour) {
    std::erase_if(energies, [&](const auto& one) { return one.second.energy() < settings_.min_energy; });
    list_workloads(energies);
  }
  add_packed(of_whole, packed_energies(database_, whole));
  for (const auto& [workload, amounts] : energies) of_whole[workload] += amounts;
  save_energies(database_, whole, of_whole);
  database_
      .prepare(fmt::format(
          "UPDATE spans SET (recorded, idle, kernel, workloads, unattributed) = "
          "(SELECT spans.recorded + sum(recorded), spans.idle + sum(idle), spans.kernel + sum(kernel), "
          "spans.workloads + sum(workloads), spans.unattributed + sum(unattributed) FROM spans AS part "
          "WHERE {}) WHERE number = ?4",
          kParts))
      .bind(step_number(step), span.start.count(), span.end.count(), whole)
      .run();
  database_.prepare(fmt::format("UPDATE spans SET part_of = ?4 WHERE {}", kParts))
      .bind(step_number(step), span.start.count(), span.end.count(), whole)
      .run();
}

// They are kept as long as the longest spans.
void Store::list_workloads(const Energies& energies) {
  Statement list = database_.prepare("UPDATE workloads SET listed = 1 WHERE number = ?1 AND listed = 0");
  for (const auto& [workload, amounts] : energies) list.bind(workload).run();
}

// Spans are only deleted when they are part of a longer one, except months, and not before what they are made
// of: it would belong to nothing then, and count twice.
void Store::forget(Time now) {
  const auto before = [now](Nanoseconds kept) {
    return (now - std::chrono::duration_cast<Time>(kept)).count();
  };
  Statement energy = database_.prepare(
      "DELETE FROM energies WHERE span IN (SELECT number FROM spans WHERE step = ?1 AND end <= ?2 "
      "AND (part_of IS NOT NULL OR step = ?3))");
  Statement spans = database_.prepare(
      "DELETE FROM spans WHERE step = ?1 AND end <= ?2 AND (part_of IS NOT NULL OR step = ?3)");
  const std::pair<int, Nanoseconds> kept[] = {{step_number(Step::kFiveMinutes), settings_.five_minutes},
                                              {kInterruption, settings_.hours},
                                              {step_number(Step::kHour), settings_.hours},
                                              {step_number(Step::kDay), settings_.days},
                                              {step_number(Step::kMonth), settings_.months}};
  Nanoseconds longest{0};
  for (const auto& [step, time] : kept) {
    longest = std::max(longest, time);
    energy.bind(step, before(longest), step_number(Step::kMonth)).run();
    spans.bind(step, before(longest), step_number(Step::kMonth)).run();
  }
  database_
      .prepare(
          "DELETE FROM workloads WHERE last <= CASE listed WHEN 0 THEN ?1 ELSE ?2 END "
          "AND number NOT IN (SELECT workload FROM counters)")
      .bind(before(settings_.five_minutes), before(longest))
      .run();
  ++labels_version_;
}

}  // namespace keplerd::history
