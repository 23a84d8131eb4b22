// SPDX-License-Identifier: Apache-2.0
#include "ledger/ledger.h"

#include <algorithm>
#include <cassert>
#include <span>
#include <unordered_set>
#include <utility>

#include "ledger/vm_surroundings.h"

namespace keplerd {
namespace {

const Logins kNoLogins;

// It is not known what the process has used in this window.
void hide_power(WorkloadRow& row, std::span<ZoneShare> shares) {
  row.power = row.idle_power = std::nullopt;
  for (ZoneShare& share : shares) share.power = share.idle_power = std::nullopt;
}

std::optional<Microjoules> unless_none(Microjoules energy) {
  return energy == Microjoules{} ? std::nullopt : std::optional(energy);
}

void add_power(std::optional<Microwatts>& sum, std::optional<Microwatts> power) {
  if (sum && power) {
    *sum += *power;
  } else {
    sum.reset();
  }
}

}  // namespace

Ledger::Ledger(std::string instance_id, Realtime now) : instance_id_(std::move(instance_id)), since_(now) {}

Ledger::Ledger(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

void Ledger::set_zones(const std::vector<Zone>& zones, Realtime now) {
  for (ZoneAccount& zone : zones_) zone.current = false;
  source_zones_.clear();
  for (const Zone& zone : zones) {
    auto known =
        std::ranges::find_if(zones_, [&](const ZoneAccount& account) { return account.zone.id == zone.id; });
    if (known == zones_.end()) {
      known = zones_.insert(zones_.end(), ZoneAccount{});
      known->since = now;
    }
    known->zone = zone;
    known->current = true;
    source_zones_.push_back(static_cast<std::size_t>(known - zones_.begin()));
  }
  windows_.clear();
  for (const ZoneAccount& zone : zones_) windows_.push_back({zone.zone.in_total, zone.current, std::nullopt});
}

void Ledger::apply(const Sample& sample, const Attribution& attribution, const Evidence& evidence) {
  ++sequence_;
  realtime_ = sample.at.realtime;
  monotonic_ = sample.at.monotonic;
  window_ = attribution.window;
  cpu_ = ticks_ ? cpu_use(*ticks_, sample.usage.ticks) : std::nullopt;
  ticks_ = sample.usage.ticks;
  bounds_errors_ = attribution.bounds_errors;
  for (std::size_t i = 0; i < source_zones_.size(); ++i) {
    apply_zone(source_zones_[i], attribution.zones[i], sample.readings[i], attribution.window);
  }
  const BookedWindow window{sample.usage, attribution, source_zones_, windows_, sequence_, realtime_};
  const Logins& logins = evidence.logins == nullptr ? kNoLogins : *evidence.logins;
  units_.apply(window);
  if (evidence.machined != nullptr) containers_.set_machined(evidence.machined->containers(), units_);
  containers_.place(units_, logins, realtime_);
  units_.settle(window, containers_.moved());
  place_idle(window);
  containers_.apply(window, units_, idle_);
  processes_.leave_containers(containers_.moved());
  idle_.book_processes(window, processes_);
  outside_other_ += processes_.apply(window, units_, logins);
  for (const FoundProgram& found : evidence.programs) processes_.set_program(found.process, found.path);
  vm_registry_.update({vm_scopes(units_), sample.usage.processes, evidence.found, sample.usage.ended},
                      LedgerSurroundings(processes_, evidence.libvirt, sample.at));
  for (const auto& claim : containers_.refused())
    refused_claims_.add(claim.is_pod ? "pod" : "container", claim.id, claim.claimant, realtime_);
  for (const RefusedVmClaim& claim : vm_registry_.refused())
    refused_claims_.add(claim.is_helper ? "helper" : "vm", claim.id, claim.claimant, realtime_);
  vms_.apply(window, vm_registry_, units_, processes_);
  idle_trials_.find_accounts(units_, vm_registry_, vms_);
  prune(realtime_);
}

void Ledger::place_idle(const BookedWindow& window) {
  idle_.place_none();
  const IdleLedgers ledgers{units_, processes_, vm_registry_, vms_};
  remember_use(window, ledgers);
  if (idle_placing_ == IdlePlacing::kSeparate && idle_trials_.empty()) return;
  auto workloads = find_idle_workloads(window, ledgers);
  idle_trials_.place(window, ledgers, workloads);
  const auto weights = idle_weights(idle_placing_, window, ledgers, workloads);
  idle_.place(window, units_, std::move(workloads), weights);
  for (std::size_t i = 0; i < idle_.zones().size(); ++i) zones_[source_zones_[i]].placed += idle_.zones()[i];
}

void Ledger::apply_zone(std::size_t index, const ZoneAttribution& attribution,
                        const Result<Microjoules>& reading, Nanoseconds window) {
  ZoneAccount& zone = zones_[index];
  zone.energy += attribution.energy;
  zone.idle += attribution.idle;
  zone.kernel += attribution.kernel;
  zone.unattributed += attribution.unattributed;
  zone.window = attribution.energy;
  zone.window_idle = attribution.idle;
  zone.problem = reading ? std::nullopt : std::optional(reading.error().message);
  if (attribution.verdict != StepVerdict::kCounted) ++discarded_windows_;
  // A span that began before this run is not a window of it.
  const bool known = attribution.read && std::min(window, attribution.span) >= kShortestPowerSpan;
  windows_[index].span = known ? std::optional(attribution.span) : std::nullopt;
}

// Its counter is saved and continued like those of other zones. Its power may be negative, which no counter
// shows: the report has it elsewhere.
void Ledger::book_rest(std::optional<Microjoules> energy) {
  auto rest = std::ranges::find_if(zones_, [](const ZoneAccount& one) { return one.zone.id == kRestZone; });
  if (rest == zones_.end()) {
    if (!energy) return;
    rest = zones_.insert(zones_.end(), ZoneAccount{});
    rest->since = realtime_;
    windows_.emplace_back();
  }
  rest->zone = {.id = std::string(kRestZone),
                .name = "rest",
                .quality = Quality::kModelled,
                .resource = Resource::kNone};
  rest->current = energy.has_value();
  rest->energy += energy.value_or(Microjoules{});
  rest->unattributed = rest->energy;
  windows_[static_cast<std::size_t>(rest - zones_.begin())] = {.in_total = false, .current = rest->current};
}

void Ledger::prune(Realtime now) {
  watched_.find_in(units_);
  outside_other_ += processes_.prune(limits_, watched_, windows_, now);
  vms_.prune(limits_, windows_, now, units_, vm_registry_);
  processes_.remove_of(containers_.prune(limits_, windows_, now, units_));
  const std::vector<UnitAccount*> overdue = units_.overdue(limits_, watched_, windows_, now);
  if (overdue.empty()) return;
  processes_.remove_of({overdue.begin(), overdue.end()});
  for (UnitAccount* const unit : overdue) outside_other_ += units_.remove(*unit, windows_);
}

std::unique_ptr<Report> Ledger::report() const {
  auto report = std::make_unique<Report>();
  report->sequence = sequence_;
  report->realtime = realtime_;
  report->monotonic = monotonic_;
  report->window = window_;
  report->instance_id = instance_id_;
  report->since = since_;
  report->discarded_windows = discarded_windows_;
  report->outside_other = outside_other_;
  report_zones(*report);
  // Rows refer to the shares: no reallocation from here on.
  const std::size_t rows =
      units_.all().size() + containers_.containers().size() + containers_.pods().size() + vms_.all().size();
  report->shares.reserve(rows * zones_.size());
  report_units(*report);
  report_vms(*report);
  report->vm_events = vms_.events().last();
  report_containers(containers_.containers(), *report, report->containers);
  report_containers(containers_.pods(), *report, report->pods);
  report->outside_containers = outside_containers(*report);
  idle_trials_.report(units_, vms_, containers_, *report);
  report->refused_claims = refused_claims_.all();
  report->running_processes = processes_.running();
  return report;
}

// Those inside another are counted with it.
Microjoules Ledger::outside_containers(const Report& report) {
  Microjoules outside = report.accounts.workloads;
  for (const auto* const rows : {&report.containers, &report.pods})
    for (const ContainerRow& row : *rows)
      if (!row.info->parent) outside -= row.active + row.idle;
  return outside;
}

void Ledger::report_zones(Report& report) const {
  HostReport& host = report.host;
  host.ticks = ticks_.value_or(CpuTicks{});
  host.cpu = cpu_;
  const bool metered =
      std::ranges::any_of(windows_, [](const ZoneWindow& zone) { return zone.current && zone.in_total; });
  if (metered) host.power = host.active_power = host.idle_power = Microwatts{};
  std::optional<Quality> worst;
  Microjoules placed;
  for (std::size_t i = 0; i < zones_.size(); ++i) {
    const ZoneAccount& account = zones_[i];
    ZoneRow zone{.zone = account.zone,
                 .current = account.current,
                 .energy = account.energy,
                 .active = account.energy - account.idle,
                 .idle = account.idle,
                 .power = {},
                 .active_power = {},
                 .idle_power = {},
                 .problem = account.problem,
                 .since = account.since,
                 .earlier = account.earlier};
    if (const auto span = windows_[i].span) {
      zone.power = mean_power(account.window, *span);
      zone.idle_power = mean_power(account.window_idle, *span);
      zone.active_power = *zone.power - *zone.idle_power;
    }
    if (account.zone.in_total) {
      host.energy += account.energy;
      host.idle += account.idle;
      placed += account.placed;
      report.accounts.kernel += account.kernel;
      report.accounts.unattributed += account.unattributed;
      worst = std::max(worst.value_or(account.zone.quality), account.zone.quality);
      if (account.current) {
        add_power(host.power, zone.power);
        add_power(host.active_power, zone.active_power);
        add_power(host.idle_power, zone.idle_power);
        report.source.quality =
            std::max(report.source.quality.value_or(account.zone.quality), account.zone.quality);
        if (!account.zone.quality_reason.empty()) report.source.reason = account.zone.quality_reason;
      }
    }
    report.zones.push_back(std::move(zone));
  }
  if (earlier_discarded_windows_) report.earlier = earlier_host();
  host.active = host.energy - host.idle;
  report.accounts.idle = host.idle - placed;
  report.accounts.workloads = host.active - report.accounts.kernel - report.accounts.unattributed + placed;
  // Rows include what earlier sources measured, too.
  if (worst) report.workload_quality = share_quality(*worst);
}

EarlierHost Ledger::earlier_host() const {
  EarlierHost host{
      .energy = {}, .idle = {}, .accounts = {}, .discarded_windows = *earlier_discarded_windows_};
  for (const ZoneAccount& account : zones_) {
    if (!account.earlier || !account.zone.in_total) continue;
    host.energy += account.earlier->energy;
    host.idle += account.earlier->idle;
    host.accounts.idle += account.earlier->idle - account.earlier->placed;
    host.accounts.kernel += account.earlier->kernel;
    host.accounts.unattributed += account.earlier->unattributed;
  }
  host.accounts.workloads =
      host.energy - host.accounts.idle - host.accounts.kernel - host.accounts.unattributed;
  return host;
}

void Ledger::report_units(Report& report) const {
  report.units.reserve(units_.all().size());
  for (const auto& [id, unit] : units_.all()) {
    UnitRow& row = report.units.emplace_back();
    fill_row(unit->energy, row_window(), report.shares, row);
    row.info = unit->info;
    row.own = unit->own;
    row.other = unit->other;
    row.undivided = unless_none(unit->undivided);
  }
}

void Ledger::report_containers(const ContainerLedger::Accounts& accounts, Report& report,
                               std::vector<ContainerRow>& rows) const {
  rows.reserve(accounts.size());
  for (const auto& [id, container] : accounts) {
    ContainerRow& row = rows.emplace_back();
    fill_row(container.energy, row_window(), report.shares, row);
    row.info = container.info;
    row.own = container.own;
    row.other = container.other;
    row.undivided = unless_none(container.undivided);
    row.in_parent = container.in_parent;
  }
}

void Ledger::report_vms(Report& report) const {
  report.vms.reserve(vms_.all().size());
  for (const auto& [id, vm] : vms_.all()) {
    if (vm.is_dormant) continue;
    VmRow& row = report.vms.emplace_back();
    fill_row(vm.energy, row_window(), report.shares, row);
    row.info = vm.info;
    row.halt_polling = vm.halt_polling;
    if (vm.parts.empty()) continue;
    row.parts.reserve(vm.parts.size() + 1);
    Microjoules other = row.active + row.idle;
    for (const auto& [name, energy] : vm.parts) {
      row.parts.emplace_back(VmPart{name, energy});
      other -= energy;
    }
    row.parts.emplace_back(VmPart{"other", other});
  }
}

std::unique_ptr<ProcessRows> Ledger::process_rows() const {
  auto made = std::make_unique<ProcessRows>();
  made->rows.reserve(processes_.all().size());
  made->shares.reserve(processes_.all().size() * zones_.size());
  for (const auto& [id, process] : processes_.all()) {
    ProcessRow& row = made->rows.emplace_back();
    fill_row(process.energy, row_window(), made->shares, row);
    if (process.unit != nullptr && process.unit->behind && !process.energy.ended) {
      made->is_complete = false;
      hide_power(row, std::span(made->shares).last(row.zones.size()));
    }
    row.info = process.info;
    row.vm = process.vm;
    row.program = process.program;
    row.in_unit = process.in_unit;
    if (process.unit == nullptr) continue;
    const UnitAccount& unit = *process.unit;
    row.unit = unit.info;
    if (unit.container != nullptr && !unit.container->info->is_pod) row.container = unit.container->info;
    if (!row.vm && unit.vm != nullptr) row.vm = unit.vm->info;
  }
  return made;
}

std::vector<ProcessId> Ledger::vm_processes() const {
  std::vector<ProcessId> ids;
  for (const auto& vm : vm_registry_.running())
    ids.insert(ids.end(), vm->processes.begin(), vm->processes.end());
  for (const auto& [id, helper] : vm_registry_.helpers()) ids.push_back(id);
  return ids;
}

std::optional<WorkloadRow> Ledger::find_process(std::int32_t pid) const {
  const ProcessAccount* const process = processes_.newest(pid);
  if (process == nullptr || process->energy.ended) return std::nullopt;
  std::vector<ZoneShare> zones;
  zones.reserve(zones_.size());
  WorkloadRow row;
  fill_row(process->energy, row_window(), zones, row);
  row.zones = {};
  return row;
}

}  // namespace keplerd
