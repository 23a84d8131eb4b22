// SPDX-License-Identifier: Apache-2.0
// Takes a sample from end to end: reads the counters and the CPU's users, divides the window, books it, and
// makes the report. Takes a meter up as soon as one appears.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attribution/attributor.h"
#include "config/settings.h"
#include "daemon/clock.h"
#include "daemon/namer.h"
#include "energy/energy_source.h"
#include "energy/select_source.h"
#include "ledger/ledger.h"
#include "usage/usage_reader.h"
#include "workloads/machine_finder.h"

namespace keplerd {

class HostRoot;

class Meter {
 public:
  // `host` must outlive the meter. `saved`: the counters' readings at the end of an earlier run on the same
  // boot.
  Meter(const HostRoot& host, SourceChoice choice, Ledger ledger, std::vector<SavedReading> saved,
        Clock clock);

  // Samples once. The report is never null; where the host cannot be read it is the last one.
  std::shared_ptr<const Report> sample();

  std::shared_ptr<const Report> last_report() const { return report_; }

  void set_limits(TerminatedLimits limits) { ledger_.set_limits(limits); }

  // What to save, with the counters' readings.
  LedgerState state() const;

 private:
  void look_for_source(const Instant& now);
  void take_up(std::unique_ptr<EnergySource> source, Realtime now);
  Instant read_counters();
  void log_zones();
  void log_once(std::string& last, const std::string& message);

  const HostRoot& host_;
  SourceChoice choice_;
  Clock clock_;
  Ledger ledger_;
  std::vector<SavedReading> saved_;
  UsageReader usage_;
  MachineFinder machines_;
  Namer namer_;
  Attributor attributor_;
  std::unique_ptr<EnergySource> source_;
  std::string no_source_reason_;
  std::optional<Nanoseconds> looked_for_source_;
  Sample sample_;
  std::vector<bool> zone_failed_;
  std::string usage_problem_;
  bool groups_left_out_told_ = false;
  std::shared_ptr<const Report> report_;
};

}  // namespace keplerd
