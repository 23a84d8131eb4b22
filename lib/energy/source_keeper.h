// SPDX-License-Identifier: Apache-2.0
// Keeps the best meter in use: finds one, switches to the next when it dies, and to a better one when it
// appears. Also keeps the meters that are shown but not divided (shown_only.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "energy/select_source.h"

namespace keplerd {

class HostRoot;

class SourceKeeper {
 public:
  // `host` must outlive it.
  SourceKeeper(const HostRoot& host, SourceChoice choice);

  // Replaces the choice: the next scan() selects the meter again, or none if there is no such meter.
  void choose(SourceChoice choice);

  // Searches for another meter when due: every ten seconds, and as soon as the current one has died, that is,
  // no zone of the total could be read three times in a row and for three seconds. Call it before each
  // read(). Returns what has changed, for the log; zones() has then changed, too. `now`: CLOCK_MONOTONIC.
  std::optional<std::string> scan(Nanoseconds now);

  // As EnergySource has them; nothing without a source.
  void read(Nanoseconds now, ZoneReadings& readings);
  void ages(ReadingAges& ages) const;
  void refresh(Nanoseconds now);
  const std::vector<Zone>& zones() const { return zones_; }

  // For a meter that moves in steps: whether no step, or only part of one, has been seen between `before` and
  // `now`. False for any other meter.
  bool awaits_step(const ZoneReadings& before, const ZoneReadings& now);
  bool moves_in_steps() const;

  // Whether nothing is lost by reading it every few seconds only. False for a meter that has failed: it is
  // still retried at each sample.
  bool may_read_seldom() const { return failed_reads_ == 0 && (!source_ || source_->may_read_seldom()); }

  bool has_source() const { return source_ != nullptr; }
  // The meter's name; "none" without one.
  std::string_view name() const { return source_ ? source_->name() : "none"; }
  // Why there is no meter.
  const std::string& reason() const { return reason_; }
  // The state of each source when it was last tried, in the order of `auto`; those after the one in use may
  // be missing.
  const SourceProbes& probes() const { return probes_; }

 private:
  bool has_died(Nanoseconds now) const;
  std::optional<std::string> look_again(Nanoseconds now);
  std::optional<std::string> look_for_source(Nanoseconds now, bool died);
  std::optional<std::string> look_for_shown_only();
  void remember(SourceProbes tried);
  std::string take(std::unique_ptr<EnergySource> source, const std::string& why);
  void gather_zones();

  const HostRoot& host_;
  SourceChoice choice_;
  std::unique_ptr<EnergySource> source_, shown_only_;
  std::vector<Zone> zones_;
  std::string reason_;
  SourceProbes probes_;
  std::optional<Nanoseconds> scanned_;
  int failed_reads_ = 0;
  Nanoseconds failed_since_{0};
  bool looked_since_it_died_ = false;
  bool is_chosen_again_ = false;
  bool in_step_ = false;  // some counters had moved when last seen, and others not
  ZoneReadings shown_only_readings_;
};

}  // namespace keplerd
