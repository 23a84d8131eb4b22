// SPDX-License-Identifier: Apache-2.0
#include "energy/source_keeper.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "energy/shown_only.h"

namespace keplerd {
namespace {

constexpr Nanoseconds kScanPeriod = std::chrono::seconds(10);
constexpr Nanoseconds kMostEarly = std::chrono::milliseconds(250);  // samples are never exactly on time
constexpr int kFailedReads = 3;
constexpr Nanoseconds kFailedTime = std::chrono::seconds(3);

// Whether `source` has a zone that is not in `zones`, or the same with another quality or of another device.
bool has_more(const EnergySource& source, const std::vector<Zone>& zones) {
  return std::ranges::any_of(source.zones(), [&](const Zone& zone) {
    const auto known = std::ranges::find(zones, zone.id, &Zone::id);
    return known == zones.end() || known->quality != zone.quality || known->device != zone.device;
  });
}

bool same(const Result<Microjoules>& a, const Result<Microjoules>& b) {
  return a.ok() == b.ok() && (!a.ok() || *a == *b);
}

std::string ids_of(const EnergySource& source) {
  std::vector<std::string_view> ids;
  for (const Zone& zone : source.zones()) ids.push_back(zone.id);
  return fmt::format("{}", fmt::join(ids, " "));
}

}  // namespace

SourceKeeper::SourceKeeper(const HostRoot& host, SourceChoice choice)
    : host_(host), choice_(std::move(choice)) {}

void SourceKeeper::choose(SourceChoice choice) {
  choice_ = std::move(choice);
  is_chosen_again_ = true;
}

std::optional<std::string> SourceKeeper::look_again(Nanoseconds now) {
  source_.reset();
  shown_only_.reset();
  probes_.clear();
  gather_zones();
  const auto notice = look_for_source(now, false);
  return notice ? *notice : "energy source none";
}

std::optional<std::string> SourceKeeper::scan(Nanoseconds now) {
  const bool died = has_died(now);
  const bool due = !scanned_ || now - *scanned_ >= kScanPeriod - kMostEarly;
  if (!due && !is_chosen_again_ && (!died || looked_since_it_died_)) return std::nullopt;
  scanned_ = now;
  looked_since_it_died_ = died;
  auto notice = std::exchange(is_chosen_again_, false) ? look_again(now) : look_for_source(now, died);
  auto more = look_for_shown_only();
  if (notice && more) return *notice + "; " + *more;
  return notice ? notice : more;
}

std::optional<std::string> SourceKeeper::look_for_source(Nanoseconds now, bool died) {
  const std::string present(name());
  SourceProbes tried;
  if (!source_) {
    auto found = select_source(host_, choice_, now, &tried);
    remember(std::move(tried));
    if (found) return take(*std::move(found), "energy source");
    reason_ = found.error().message;
    return std::nullopt;
  }
  if (died) {
    auto next = search_source(host_, choice_, {.except = present}, now, &tried);
    remember(std::move(tried));
    if (next) return take(*std::move(next), present + " cannot be read any more, switching to energy source");
    return std::nullopt;
  }
  auto better = search_source(host_, choice_, {.better_than = present}, now, &tried);
  remember(std::move(tried));
  if (better)
    return take(*std::move(better), "a better energy source than " + present + " is available, switching to");
  if (!source_->outdated()) return std::nullopt;
  auto again = search_source(host_, choice_, {.only = present}, now);
  if (!again || !has_more(**again, source_->zones())) return std::nullopt;
  return take(*std::move(again), "new zones of energy source");
}

std::optional<std::string> SourceKeeper::look_for_shown_only() {
  if (choice_.source == "simulated" || (shown_only_ && !shown_only_->outdated())) return std::nullopt;
  auto found = open_shown_only(host_, choice_.zones);
  if (!found && !shown_only_) return std::nullopt;
  const bool same_zones = found && shown_only_ && found->zones().size() == shown_only_->zones().size() &&
                          !has_more(*found, shown_only_->zones());
  shown_only_ = std::move(found);
  gather_zones();
  if (same_zones) return std::nullopt;
  return "additional zones, not in the total: " + (shown_only_ ? ids_of(*shown_only_) : "none");
}

void SourceKeeper::remember(SourceProbes tried) {
  for (SourceProbe& probe : tried) {
    std::erase_if(probes_, [&](const SourceProbe& old) { return old.name == probe.name; });
    probes_.push_back(std::move(probe));
  }
  const auto& names = source_names();
  std::ranges::stable_sort(probes_, {}, [&](const SourceProbe& probe) {
    return std::ranges::find(names, probe.name) - names.begin();
  });
}

std::string SourceKeeper::take(std::unique_ptr<EnergySource> source, const std::string& why) {
  source_ = std::move(source);
  reason_.clear();
  failed_reads_ = 0;
  looked_since_it_died_ = false;
  gather_zones();
  return fmt::format("{} {}: {}", why, source_->name(), ids_of(*source_));
}

void SourceKeeper::gather_zones() {
  zones_.clear();
  if (source_) zones_ = source_->zones();
  if (shown_only_) zones_.insert(zones_.end(), shown_only_->zones().begin(), shown_only_->zones().end());
}

bool SourceKeeper::has_died(Nanoseconds now) const {
  return failed_reads_ >= kFailedReads && now - failed_since_ >= kFailedTime;
}

void SourceKeeper::read(Nanoseconds now, ZoneReadings& readings) {
  readings.clear();
  if (source_) {
    source_->read(now, readings);
    if (!reads_total(*source_, readings)) {
      if (failed_reads_++ == 0) failed_since_ = now;
    } else {
      failed_reads_ = 0;
      looked_since_it_died_ = false;
    }
  }
  if (!shown_only_) return;
  shown_only_->read(now, shown_only_readings_);
  readings.insert(readings.end(), std::make_move_iterator(shown_only_readings_.begin()),
                  std::make_move_iterator(shown_only_readings_.end()));
}

bool SourceKeeper::moves_in_steps() const { return source_ && source_->moves_in_steps(); }

bool SourceKeeper::awaits_step(const ZoneReadings& before, const ZoneReadings& now) {
  if (!source_ || !source_->moves_in_steps() || before.size() != now.size()) return false;
  const std::size_t zones = source_->zones().size();  // those shown only may change at any time
  std::size_t moved = 0;
  for (std::size_t i = 0; i < zones; ++i) moved += same(before[i], now[i]) ? 0 : 1;
  // The host writes the counters one after another: the remaining ones have moved by the next time, or have
  // nothing to report.
  const bool was_in_step = std::exchange(in_step_, moved > 0 && moved < zones);
  return moved == 0 || (in_step_ && !was_in_step);
}

void SourceKeeper::ages(ReadingAges& ages) const {
  ages.clear();
  if (source_) source_->ages(ages);
  if (!shown_only_) return;
  ReadingAges more;
  shown_only_->ages(more);
  ages.insert(ages.end(), more.begin(), more.end());
}

void SourceKeeper::refresh(Nanoseconds now) {
  if (source_) source_->refresh(now);
  if (shown_only_) shown_only_->refresh(now);
}

}  // namespace keplerd
