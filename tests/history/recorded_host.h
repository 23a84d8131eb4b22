// SPDX-License-Identifier: Apache-2.0
// keplerd's counters as a test sets them, and a database in a directory of its own.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "history/recorder.h"
#include "history/store/energies.h"
#include "history/store/labels.h"
#include "history/store/period_sum.h"
#include "history/store/query.h"
#include "history/time_zone.h"

namespace keplerd::history {

class RecordedHost : public testing::Test {
 protected:
  RecordedHost() {
    std::filesystem::create_directory(directory);
    open();
  }
  ~RecordedHost() override { std::filesystem::remove_all(directory); }

  // Opens the database again, as after the end of the process.
  void open() {
    recorder.reset();
    auto store = Store::open(path, settings, now);
    ASSERT_TRUE(store) << store.error().message;
    set_aside = store->set_aside();
    recorder.emplace(*std::move(store),
                     [this](bool, const std::string& message) { messages.push_back(message); });
  }

  WorkloadReading& workload(Kind kind, const std::string& id, std::optional<uid_t> owner = 0) {
    const auto [found, is_new] = workloads.try_emplace(WorkloadKey{kind, id, owner});
    if (is_new) found->second = {.key = found->first, .name = id, .since = now};
    return found->second;
  }

  // A unit and the host use energy.
  void draw(const std::string& unit, std::int64_t active) {
    workload(Kind::kUnits, unit).now.active += Microjoules{active};
    accounts.workloads += Microjoules{active};
  }
  void draw_idle(std::int64_t idle) { accounts.idle += Microjoules{idle}; }

  Reading reading() const {
    Reading reading{.time = now, .instance = instance, .now = accounts, .earlier = earlier};
    for (const auto& [key, one] : workloads) reading.workloads.push_back(one);
    return reading;
  }
  void read() { recorder->take(reading()); }
  // Reads `count` times, each after a minute in which the unit uses 100 uJ, and the host 1000 when idle.
  void run(int count, const std::string& unit = "/a.service") {
    for (int i = 0; i < count; ++i) {
      now += std::chrono::minutes(1);
      draw(unit, 100);
      draw_idle(1000);
      read();
    }
  }

  Summary summary(const Span& span) { return sum(span)->summary(); }
  // What was drawn in a span, and rated if there is a series.
  std::unique_ptr<PeriodSum> sum(const Span& span, const RateSeries* series = nullptr) {
    auto sum = std::make_unique<PeriodSum>(recorder->store().database(), PeriodSum::What{span, series});
    while (sum->step()) {
    }
    return sum;
  }
  std::vector<WorkloadEnergy> workloads_of(const PeriodSum& sum, const Selection& selection) {
    Labels labels(recorder->store().database());
    return select(sum.workloads(), selection, [&](std::int64_t number) { return labels.find(number, 1); });
  }
  std::map<std::string, std::int64_t> energy(const Span& span, Kind kind = Kind::kUnits) {
    std::map<std::string, std::int64_t> found;
    for (const WorkloadEnergy& one : workloads_of(*sum(span), {kind, {}, {}}))
      found[one.key.id] += one.amounts.energy().value;
    return found;
  }
  // Of a span in the database.
  Energies energies_of(std::int64_t number) {
    Energies energies;
    const std::string packed = packed_energies(recorder->store().database(), number);
    add_packed(energies, packed);
    return energies;
  }
  std::int64_t count(const std::string& sql) { return recorder->store().database().integer(sql); }

  std::filesystem::path directory =
      std::filesystem::temp_directory_path() / ("keplerd-history-" + std::to_string(::getpid()));
  std::string path = directory / "history.sqlite";
  Settings settings{.min_energy = {0}};
  Time now = utc("2026-11-24 12:00");
  std::string instance = "i";
  Accounts accounts, earlier;
  std::map<WorkloadKey, WorkloadReading> workloads;
  std::vector<std::string> messages;
  std::string set_aside;
  std::optional<Recorder> recorder;

 private:
  TimeZone zone_{"UTC0"};
};

}  // namespace keplerd::history
