// SPDX-License-Identifier: Apache-2.0
#include "daemon/meter.h"

#include <algorithm>
#include <ctime>

#include "daemon/log.h"
#include "host/host_root.h"

namespace keplerd {
namespace {

constexpr Nanoseconds kLookForSourcePeriod = std::chrono::seconds(10);

Nanoseconds read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

Instant middle(const Instant& a, const Instant& b) {
  return {a.monotonic + (b.monotonic - a.monotonic) / 2, a.boottime + (b.boottime - a.boottime) / 2,
          a.realtime + (b.realtime - a.realtime) / 2};
}

}  // namespace

Instant read_system_clocks() {
  return {read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_BOOTTIME),
          std::chrono::duration_cast<Realtime>(read_clock(CLOCK_REALTIME))};
}

Meter::Meter(const HostRoot& host, SourceChoice choice, Ledger ledger, std::vector<SavedReading> saved,
             Clock clock)
    : host_(host),
      choice_(std::move(choice)),
      clock_(std::move(clock)),
      ledger_(std::move(ledger)),
      saved_(std::move(saved)),
      usage_(host),
      machines_(host),
      namer_(host),
      report_(ledger_.report()) {}

std::shared_ptr<const Report> Meter::sample() {
  if (!source_) look_for_source(clock_());
  sample_.at = read_counters();
  const auto usage = usage_.read(sample_.at.boottime, sample_.usage);
  if (!usage) {
    log_once(usage_problem_, "cannot sample: " + usage.error().message);
    return report_;
  }
  if (!usage_problem_.empty()) log_info("sampling again");
  usage_problem_.clear();
  if (usage_.groups_left_out() > 0 && !groups_left_out_told_) {
    log_warning(std::to_string(usage_.groups_left_out()) +
                " cgroups are too many or too deep: they are counted in the cgroups above them");
  }
  groups_left_out_told_ = usage_.groups_left_out() > 0;

  const Attribution& attribution = attributor_.attribute(sample_);
  ledger_.apply(sample_, attribution, machines_.look(sample_.usage));
  namer_.name(ledger_, sample_.at.monotonic);
  log_zones();
  for (std::size_t i = 0; i < attribution.zones.size(); ++i) {
    if (attribution.zones[i].verdict == StepVerdict::kCounted) continue;
    log_warning(source_->zones()[i].id + ": energy of one window is not counted: " +
                std::string(verdict_text(attribution.zones[i].verdict)));
  }

  auto report = ledger_.report();
  if (source_) {
    report->source.name = source_->name();
  } else {
    report->source.reason = no_source_reason_;
  }
  report_ = std::move(report);
  return report_;
}

// Reads all counters; when they were read.
Instant Meter::read_counters() {
  const Instant begin = clock_();
  sample_.readings.clear();
  if (!source_) return begin;
  source_->read(begin.monotonic, sample_.readings);
  return middle(begin, clock_());
}

void Meter::look_for_source(const Instant& now) {
  if (looked_for_source_ && now.monotonic - *looked_for_source_ < kLookForSourcePeriod) return;
  looked_for_source_ = now.monotonic;
  auto source = select_source(host_, choice_);
  if (source) {
    take_up(*std::move(source), now.realtime);
  } else {
    log_once(no_source_reason_, "no energy source: " + source.error().message);
    no_source_reason_ = source.error().message;
  }
}

void Meter::take_up(std::unique_ptr<EnergySource> source, Realtime now) {
  source_ = std::move(source);
  no_source_reason_.clear();
  zone_failed_.assign(source_->zones().size(), false);
  attributor_.set_zones(source_->zones(), saved_);
  saved_.clear();
  ledger_.set_zones(source_->zones(), now);
  std::string zones;
  for (const Zone& zone : source_->zones()) zones += " " + zone.id;
  log_info("energy source " + std::string(source_->name()) + ":" + zones);
}

// Tells once when a zone cannot be read, and once when it can again.
void Meter::log_zones() {
  for (std::size_t i = 0; i < sample_.readings.size(); ++i) {
    const Result<Microjoules>& reading = sample_.readings[i];
    if (reading.ok() != zone_failed_[i]) continue;
    zone_failed_[i] = !reading.ok();
    const std::string& id = source_->zones()[i].id;
    if (reading) {
      log_info(id + ": can be read again");
    } else {
      log_warning(id + ": cannot be read: " + reading.error().message);
    }
  }
}

void Meter::log_once(std::string& last, const std::string& message) {
  if (last.empty()) log_warning(message);
  last = message;
}

LedgerState Meter::state() const {
  LedgerState state = ledger_.state(clock_().realtime);
  state.readings = source_ ? attributor_.last_readings() : saved_;
  if (!source_) return state;
  std::erase_if(state.readings, [this](const SavedReading& reading) {
    const auto zone = std::ranges::find(source_->zones(), reading.zone, &Zone::id);
    return zone->begins_anew;
  });
  return state;
}

}  // namespace keplerd
