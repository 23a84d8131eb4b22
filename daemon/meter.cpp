// SPDX-License-Identifier: Apache-2.0
#include "daemon/meter.h"

#include <algorithm>
#include <ctime>
#include <unordered_set>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <fmt/format.h>
#include <unistd.h>

#include "daemon/log.h"
#include "host/host_root.h"

namespace keplerd {
namespace {

Instant middle(const Instant& a, const Instant& b) {
  return {a.monotonic + (b.monotonic - a.monotonic) / 2, a.boottime + (b.boottime - a.boottime) / 2,
          a.realtime + (b.realtime - a.realtime) / 2};
}

// How long a meter that moves in steps may stand still until a window ends without one.
constexpr Nanoseconds kLongestStep = std::chrono::seconds(30);

}  // namespace

Nanoseconds read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

Instant read_system_clocks() {
  return {read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_BOOTTIME),
          std::chrono::duration_cast<Realtime>(read_clock(CLOCK_REALTIME))};
}

Meter::Meter(const HostRoot& host, SourceChoice choice, Ledger ledger, std::vector<SavedReading> saved,
             Clock clock, UsageLimits limits)
    : keeper_(host, std::move(choice)),
      clock_(std::move(clock)),
      ledger_(std::move(ledger)),
      saved_(std::move(saved)),
      usage_(host, limits),
      vms_(host),
      logins_(host),
      libvirt_(host, LibvirtRecords::kQemu),
      machined_(host),
      threads_(host),
      namer_(host),
      own_pid_(host.has_own_procfs() ? ::getpid() : 0),
      report_(ledger_.report()) {}

std::shared_ptr<const Report> Meter::sample() {
  look_for_source(clock_());
  const Instant at = read_counters();
  if (awaits_step(at)) {
    keeper_.refresh(at.monotonic);
    return report_;
  }
  sample_.at = at;
  std::swap(sample_.readings, readings_);
  const auto usage = usage_.read(sample_.at.boottime, sample_.usage);
  if (!usage) {
    log_once(usage_problem_, "cannot sample: " + usage.error().message);
    return report_;
  }
  if (!usage_problem_.empty()) log_info("sampling again");
  usage_problem_.clear();
  read_vms_threads();
  const Attribution& attribution = attributor_.attribute(sample_);
  processes_.reset();
  if (std::exchange(zones_are_new_, false)) ledger_.set_zones(keeper_.zones(), sample_.at.realtime);
  ledger_.apply(sample_, attribution, find_evidence());
  namer_.name(ledger_, libvirt_, sample_.at);
  log_refused_claims();
  log_limits();
  log_zones();
  log_discarded(attribution);

  auto report = ledger_.report();
  report->source.name = keeper_.name();
  if (!keeper_.reason().empty()) report->source.reason = keeper_.reason();
  report->source.tried = keeper_.probes();
  report->groups_left_out = usage_.groups_left_out();
  report->processes_left_out = usage_.processes_left_out();
  report->own_cost = own_cost();
  report_ = std::move(report);
  most_rows_ = std::max(most_rows_, report_->units.size() + report_->running_processes);
  keeper_.refresh(sample_.at.monotonic);
  return report_;
}

Evidence Meter::find_evidence() {
  const Nanoseconds now = sample_.at.monotonic;
  logins_.refresh(now);
  libvirt_.refresh(now);
  machined_.refresh(now);
  return {vms_.look(sample_.usage), &logins_.logins(), &libvirt_, &machined_};
}

const std::shared_ptr<const ProcessRows>& Meter::processes() {
  if (!processes_) processes_ = ledger_.process_rows();
  return processes_;
}

void Meter::learn(const LibvirtUpdate& update) {
  if (update.kind == LibvirtUpdate::Kind::kEnded) ledger_.vms().note_end(update.uuid, update.reason);
  namer_.learn(update);
}

void Meter::set_libvirt_connected(bool connected) {
  ledger_.vms().expect_end_reasons(connected);
  if (!connected) namer_.forget_updates();
}

std::vector<std::string> Meter::libvirt_drivers() const {
  bool qemu = false, xen = false;
  for (const auto& [id, vm] : ledger_.vms().all()) {
    if (!vm.runs()) continue;
    xen = xen || vm.info->hypervisor == "xen";
    qemu = qemu || (vm.status && !vm.status->of_session && vm.info->hypervisor == "kvm");
  }
  std::vector<std::string> drivers;
  if (qemu) drivers.emplace_back("qemu");
  if (xen) drivers.emplace_back("xen");
  return drivers;
}

// Reads all counters; when they were read.
Instant Meter::read_counters() {
  const Instant begin = clock_();
  keeper_.read(begin.monotonic, readings_);
  return middle(begin, clock_());
}

// Whether the window goes on, because the energy of those who run now is yet to be told.
bool Meter::awaits_step(const Instant& at) {
  if (zones_are_new_ || !keeper_.awaits_step(sample_.readings, readings_)) return false;
  return at.monotonic - sample_.at.monotonic < kLongestStep;
}

// Of the VMs that moved and that have no threaded cgroups to tell their parts.
void Meter::read_vms_threads() {
  threads_.forget(sample_.usage.ended);
  std::unordered_set<std::size_t> reported;
  for (const PartUsage& part : sample_.usage.parts) reported.insert(part.group);
  for (const ProcessUsage& process : sample_.usage.processes) {
    const bool moved = !process.before || process.usage != process.before->usage;
    if (!moved || !ledger_.runs_vm(process.id)) continue;
    if (!reported.contains(process.group)) threads_.read(process.id, sample_.usage.parts);
  }
}

void Meter::look_for_source(const Instant& now) {
  const auto update = keeper_.look(now.monotonic);
  if (!keeper_.reason().empty() && !no_source_logged_) log_warning("no energy source: " + keeper_.reason());
  no_source_logged_ = !keeper_.reason().empty();
  if (!update) return;
  log_info(*update);
  zones_are_new_ = true;
  const std::vector<Zone>& zones = keeper_.zones();
  zone_failed_.assign(zones.size(), false);
  if (had_source_) {
    attributor_.change_zones(zones);
  } else {
    attributor_.set_zones(zones, saved_);
  }
  had_source_ = had_source_ || keeper_.has_source();
}

OwnCost Meter::own_cost() const {
  OwnCost cost{.cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID), .memory = own_memory_.read()};
  cost.window_cpu = cost.cpu - report_->own_cost.cpu;
  if (const auto row = ledger_.find_process(own_pid_)) {
    cost.energy = row->active + row->idle;
    cost.power = row->power;
  }
  return cost;
}

void Meter::log_discarded(const Attribution& attribution) {
  for (std::size_t i = 0; i < attribution.zones.size(); ++i) {
    const StepVerdict verdict = attribution.zones[i].verdict;
    if (verdict == StepVerdict::kCounted) continue;
    const std::string fault = "energy of one window is not counted: " + std::string(verdict_text(verdict));
    const auto line = faults_.report(keeper_.zones()[i].id, fault, sample_.at.monotonic);
    if (line) log_warning(*line);
  }
}

void Meter::give_back_memory() {
  constexpr std::size_t kMany = 10'000;
  const std::size_t rows = report_->units.size() + report_->running_processes;
  if (most_rows_ < kMany || rows > most_rows_ / 2) return;
  most_rows_ = rows;
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

void Meter::log_refused_claims() {
  for (const RefusedClaim& claim : ledger_.new_refused_claims()) {
    const std::string who = claim.container.empty() ? fmt::format("user {}", claim.owner)
                                                    : fmt::format("container {}", claim.container);
    const std::string what = claim.kind == "helper" ? "refused claim to help VM " + claim.id
                                                    : "refused claim to " + claim.kind + " " + claim.id;
    const auto line =
        faults_.report(who, what + ": it belongs to another owner; counted apart", sample_.at.monotonic);
    if (line) log_info(*line);
  }
}

// Tells when there is more than is told apart, and when there is no more.
void Meter::log_limits() {
  const auto report = [this](bool& reported, bool is_over, const std::string& what,
                             const std::string& trouble, const std::string& end) {
    if (reported == is_over) return;
    reported = is_over;
    const auto line = faults_.report(what, is_over ? trouble : end, sample_.at.monotonic);
    if (line) is_over ? log_warning(*line) : log_info(*line);
  };
  report(limits_reported_.groups, usage_.groups_left_out() > 0, "cgroups",
         "some are too many or too deep: they are counted in the cgroups above them",
         "all are told apart again");
  report(limits_reported_.watches, usage_.groups_unwatched() > 0, "cgroups",
         "more than may be watched (fs.inotify.max_user_watches): all are looked up at each sample",
         "all are watched again");
  report(limits_reported_.processes, usage_.processes_left_out() > 0, "processes",
         "too many to tell all apart: the energy of some is in the other account of their units",
         "all are told apart again");
}

// Tells when a zone cannot be read, and when it can again.
void Meter::log_zones() {
  for (const std::string& line : faults_.summaries(sample_.at.monotonic)) log_warning(line);
  for (std::size_t i = 0; i < sample_.readings.size(); ++i) {
    const Result<Microjoules>& reading = sample_.readings[i];
    if (reading.ok() != zone_failed_[i]) continue;
    zone_failed_[i] = !reading.ok();
    const std::string& id = keeper_.zones()[i].id;
    const std::string update = reading ? "can be read again" : "cannot be read: " + reading.error().message;
    const auto line = faults_.report(id, update, sample_.at.monotonic);
    if (!line) continue;
    reading ? log_info(*line) : log_warning(*line);
  }
}

void Meter::log_once(std::string& last, const std::string& message) {
  if (last.empty()) log_warning(message);
  last = message;
}

LedgerState Meter::state() const {
  LedgerState state = ledger_.state(clock_().realtime);
  state.readings = had_source_ ? attributor_.last_readings() : saved_;
  std::erase_if(state.readings, [this](const SavedReading& reading) {
    const auto zone = std::ranges::find(keeper_.zones(), reading.zone, &Zone::id);
    return zone != keeper_.zones().end() && zone->begins_anew;
  });
  return state;
}

}  // namespace keplerd
