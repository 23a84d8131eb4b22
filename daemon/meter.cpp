// SPDX-License-Identifier: Apache-2.0
#include "daemon/meter.h"

#include <algorithm>
#include <ctime>
#include <unordered_set>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <unistd.h>

#include "daemon/platform_report.h"
#include "host/host_root.h"

namespace keplerd {
namespace {

// In whole microseconds: reports and traces have no more.
Instant middle(const Instant& a, const Instant& b) {
  using Microseconds = std::chrono::microseconds;
  return {std::chrono::duration_cast<Microseconds>(a.monotonic + (b.monotonic - a.monotonic) / 2),
          std::chrono::duration_cast<Microseconds>(a.boottime + (b.boottime - a.boottime) / 2),
          a.realtime + (b.realtime - a.realtime) / 2};
}

// Between the last sample of an earlier run and the first one, so that they are taken for one window.
constexpr Nanoseconds kLongestGap = std::chrono::minutes(10);

// How long a meter that moves in steps may stand still before a window ends without a step.
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
    : host_(host),
      keeper_(host, std::move(choice)),
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
      own_cost_(host.has_own_procfs() ? ::getpid() : 0),
      report_(ledger_.report()) {
  learned_.processor = processor_model(host);
}

Meter::~Meter() = default;

void Meter::resume(const SavedUsage& usage) {
  const Instant now = clock_();
  const Nanoseconds gap = now.boottime - usage.boottime;
  if (gap < Nanoseconds{0} || gap > kLongestGap || now.monotonic < usage.monotonic) return;
  usage_.resume(usage);
  attributor_.resume(usage);
}

std::shared_ptr<const Report> Meter::sample() {
  find_source(clock_());
  const Instant at = read_counters();
  if (awaits_step(at)) {
    keeper_.refresh(at.monotonic);
    return report_;
  }
  sample_.at = at;
  std::swap(sample_.readings, readings_);
  usage_.demand(process_demand());
  const auto usage = usage_.read(sample_.at.boottime, sample_.usage);
  if (!usage) {
    log_.cannot_sample(usage.error().message);
    return report_;
  }
  read_vms_threads();
  ledger_.add_vm_sizes(sample_.usage);
  const Attribution& attribution = attributor_.attribute(sample_);
  processes_.reset();
  if (std::exchange(zones_are_new_, false)) ledger_.set_zones(keeper_.zones(), sample_.at.realtime);
  ledger_.apply(sample_, attribution, find_evidence());
  keeper_.ages(ages_);
  const auto platform =
      platform_.update({keeper_.zones(), attribution.zones, sample_.readings, ages_, sample_.at});
  ledger_.book_rest(platform && platform->knows_rest ? std::optional(platform->rest) : std::nullopt);
  namer_.name(ledger_, libvirt_, expects_records(), sample_.at);
  log_.sampled(sample_, attribution, keeper_.zones());
  recent_faults_.note(sample_, attribution, keeper_.zones());
  log_.refused(ledger_.new_refused_claims(), sample_.at.monotonic);
  log_.left_out(usage_, sample_.at.monotonic);
  log_.usage_files(usage_);

  auto report = ledger_.report();
  report->source.name = keeper_.name();
  if (!keeper_.reason().empty()) report->source.reason = keeper_.reason();
  report->source.tried = keeper_.probes();
  report->rules = attributor_.model().in_force();
  report->models = attributor_.model().states();
  std::erase_if(report->models, [this](const ZoneModelState& model) {  // of an earlier source
    return std::ranges::find(keeper_.zones(), model.zone, &Zone::id) == keeper_.zones().end();
  });
  report->groups_left_out = usage_.groups_left_out();
  report->processes_left_out = usage_.processes_left_out();
  report->missed_ends = usage_.missed_ends();
  report_platform({platform, keeper_.zones(), ages_}, *report);
  report->own_cost = own_cost_.read(ledger_, report_->own_cost);
  for (ZoneRow& zone : report->zones) {
    if (zone.current && zone.zone.resource == Resource::kGpu)
      zone.undivided = usage_.devices().why_unknown(zone.zone.device);
  }
  problems_.set(ProblemKind::kWindows, recent_faults_.windows());
  problems_.set(ProblemKind::kClock, recent_faults_.clock());
  problems_.add_to(*report);
  report_ = std::move(report);
  most_rows_ = std::max(most_rows_, report_->units.size() + report_->running_processes);
  keeper_.refresh(sample_.at.monotonic);
  return report_;
}

Evidence Meter::find_evidence() {
  const Nanoseconds now = sample_.at.monotonic;
  std::vector<FoundProgram> programs = find_programs(host_, sample_.usage);
  if (!programs.empty()) last_start_ = now;
  logins_.refresh(now);
  libvirt_.refresh(now, expects_records());
  machined_.refresh(now, expects_records());
  return {vms_.scan(sample_.usage), std::move(programs), &logins_.logins(), &libvirt_, &machined_};
}

// Whether a program has begun lately: libvirt or machined may be about to record what it is.
bool Meter::expects_records() const {
  return last_start_ && sample_.at.monotonic - *last_start_ < kCheckPeriod;
}

const std::shared_ptr<const ProcessRows>& Meter::processes() {
  if (!processes_) processes_ = ledger_.process_rows();
  return processes_;
}

void Meter::set_model(std::unique_ptr<Model> model) {
  learned_ = learned();
  model->restore(learned_.zones);
  attributor_.set_model(std::move(model));
  choose_what_is_read();
}

void Meter::set_recorded(bool recorded) {
  if (recorded == std::exchange(is_recorded_, recorded)) return;
  choose_what_is_read();
}

void Meter::set_idle_placing(IdlePlacing placing) {
  idle_placing_ = placing;
  ledger_.set_idle_placing(placing);
  choose_what_is_read();
}

void Meter::set_idle_trials(std::vector<IdlePlacing> placings) {
  if (placings == idle_trials_) return;
  idle_trials_ = std::move(placings);
  ledger_.set_idle_trials(idle_trials_);
  choose_what_is_read();
}

void Meter::choose_what_is_read() {
  const bool sizes = idle_placing_ == IdlePlacing::kSize ||
                     std::ranges::find(idle_trials_, IdlePlacing::kSize) != idle_trials_.end();
  usage_.read_limits(is_recorded_ || sizes);
  const bool all = is_recorded_ || attributor_.model().wants_processors();
  usage_.read_processors(all ? [this](ProcessId id) { return ledger_.runs_vm(id); } : AllowedCpus::RunsVm());
}

// Placing idle energy and recording need all; and if the meter moves in steps, none can be read for a
// question.
ProcessDemand Meter::process_demand() const {
  ProcessDemand demand;
  demand.all = processes_wanted_ || is_recorded_ || idle_placing_ != IdlePlacing::kSeparate ||
               !idle_trials_.empty() || keeper_.moves_in_steps();
  if (demand.all) return demand;
  demand.needed = ledger_.vm_processes();
  if (const auto own = own_cost_.process(ledger_)) demand.needed.push_back(*own);
  for (const DeviceUsage& device : sample_.usage.devices) {
    for (const EngineUse& use : device.uses) {
      if (use.process != kNoProcess) demand.needed.push_back(sample_.usage.processes[use.process].id);
    }
  }
  return demand;
}

bool Meter::lacks_processes() const { return std::ranges::any_of(sample_.usage.groups, &GroupUsage::behind); }

void Meter::restore_models(SavedModels saved) {
  if (saved.processor != learned_.processor) return;
  attributor_.model().restore(saved.zones);
  platform_.restore(saved.platforms);
  learned_ = std::move(saved);
}

SavedModels Meter::learned() const {
  auto zones = attributor_.model().save();
  return {learned_.processor, zones.empty() ? learned_.zones : std::move(zones), platform_.save()};
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

// Reads all counters; returns the time at which they were read.
Instant Meter::read_counters() {
  const Instant begin = clock_();
  keeper_.read(begin.monotonic, readings_);
  return middle(begin, clock_());
}

// Whether to extend the window, because the meter has yet to report the energy of what runs now.
bool Meter::awaits_step(const Instant& at) {
  if (zones_are_new_ || !keeper_.awaits_step(sample_.readings, readings_)) return false;
  return at.monotonic - sample_.at.monotonic < kLongestStep;
}

// For active VMs without threaded cgroups for their parts.
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

void Meter::find_source(const Instant& now) {
  const auto update = keeper_.scan(now.monotonic);
  log_.source(keeper_.reason(), update);
  if (!update) return;
  zones_are_new_ = true;
  const std::vector<Zone>& zones = keeper_.zones();
  if (had_source_) {
    attributor_.change_zones(zones);
  } else {
    attributor_.set_zones(zones, saved_);
  }
  had_source_ = had_source_ || keeper_.has_source();
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

LedgerState Meter::state() const {
  LedgerState state = ledger_.state(clock_().realtime);
  state.readings = readings();
  state.models = learned();
  // Unset if the last sample could not be divided.
  const auto& last = attributor_.last();
  if (last && last->monotonic == sample_.at.monotonic)
    state.usage = at_last_sample(usage_.all(sample_.usage));
  return state;
}

SavedUsage Meter::changed_usage() const { return at_last_sample(usage_.changed(sample_.usage)); }

SavedUsage Meter::at_last_sample(SavedUsage usage) const {
  usage.monotonic = sample_.at.monotonic;
  usage.boottime = sample_.at.boottime;
  return usage;
}

std::vector<SavedReading> Meter::readings() const {
  std::vector<SavedReading> readings = had_source_ ? attributor_.last_readings() : saved_;
  std::erase_if(readings, [this](const SavedReading& reading) {
    const auto zone = std::ranges::find(keeper_.zones(), reading.zone, &Zone::id);
    return zone != keeper_.zones().end() && zone->begins_anew;
  });
  return readings;
}

}  // namespace keplerd
