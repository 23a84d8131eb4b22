// SPDX-License-Identifier: Apache-2.0
// Keeps the best meter in use: finds one, hands over to the next when it dies, and takes a better one when it
// appears. Beside it, what is shown and not divided (shown_only.h).
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

  // Looks for another meter where it is time: every ten seconds, and as soon as the present one has died,
  // which is when no zone of the total could be read three times and for three seconds. To be called before
  // each read(). What has changed, for the log; then zones() are others. `now`: CLOCK_MONOTONIC.
  std::optional<std::string> look(Nanoseconds now);

  // As EnergySource has them; nothing where there is none.
  void read(Nanoseconds now, ZoneReadings& readings);
  void refresh(Nanoseconds now);
  const std::vector<Zone>& zones() const { return zones_; }

  // Of a meter that moves in steps: whether none has come yet since `before`, or a part of one only, while
  // `now` has been read. False for any other.
  bool awaits_step(const ZoneReadings& before, const ZoneReadings& now);

  // Whether nothing is lost where it is read every few seconds only. A meter that has failed is not left
  // alone.
  bool may_read_seldom() const { return failed_reads_ == 0 && (!source_ || source_->may_read_seldom()); }

  bool has_source() const { return source_ != nullptr; }
  // The meter's; "none".
  std::string_view name() const { return source_ ? source_->name() : "none"; }
  // Why there is no meter.
  const std::string& reason() const { return reason_; }
  // What each source was when it was last tried, in the order of `auto`; those behind the one in use may not
  // be among them.
  const SourceProbes& probes() const { return probes_; }

 private:
  bool has_died(Nanoseconds now) const;
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
  std::optional<Nanoseconds> looked_;
  int failed_reads_ = 0;
  Nanoseconds failed_since_{0};
  bool looked_since_it_died_ = false;
  bool in_step_ = false;  // some counters had moved when last seen, and some not
  ZoneReadings shown_only_readings_;
};

}  // namespace keplerd
