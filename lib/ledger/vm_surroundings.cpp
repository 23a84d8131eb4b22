// SPDX-License-Identifier: Apache-2.0
#include "ledger/vm_surroundings.h"

#include "ledger/container_ledger.h"
#include "usage/cpu_ticks.h"

namespace keplerd {
namespace {

Claimant claimant_in(const UnitAccount* unit, Uid owner) {
  const auto* const container = unit == nullptr ? nullptr : enclosing_container(unit->container);
  return {container == nullptr ? std::string() : container->info->id, owner};
}

}  // namespace

const ProcessAccount* LedgerSurroundings::find(ProcessId process) const {
  const auto known = processes_.all().find(process);
  return known == processes_.all().end() || known->second.energy.ended ? nullptr : &known->second;
}

std::optional<VmPlace> LedgerSurroundings::place(ProcessId process) const {
  const ProcessAccount* const account = find(process);
  if (account == nullptr) return std::nullopt;
  const UnitAccount* const unit = account->unit;
  VmPlace place{.scope = 0, .claimant = claimant_in(unit, account->claims_as), .user = account->info->user};
  if (unit != nullptr && unit->vm_scope != nullptr) place.scope = unit->vm_scope->incarnation;
  return place;
}

std::map<VmScopeKey, ProcessId> LedgerSurroundings::oldest_in(const std::set<VmScopeKey>& scopes) const {
  std::map<VmScopeKey, ProcessId> oldest;
  for (const auto& [id, process] : processes_.all()) {
    if (process.energy.ended || process.unit == nullptr || process.unit->vm_scope == nullptr) continue;
    const VmScopeKey scope = process.unit->vm_scope->incarnation;
    if (!scopes.contains(scope)) continue;
    const auto [known, is_first] = oldest.try_emplace(scope, id);
    if (!is_first && id.start < known->second.start) known->second = id;
  }
  return oldest;
}

// A record of a pid counts for this process only if it was written after the process began: VMs that
// ended while libvirtd was stopped leave their records. In root's scope no other VM's record can
// match.
std::shared_ptr<const LibvirtStatus> LedgerSurroundings::record(ProcessId process) const {
  if (libvirt_ == nullptr) return nullptr;
  const ProcessAccount* const account = find(process);
  const bool in_scope = account != nullptr && account->unit != nullptr && account->unit->vm_scope != nullptr;
  return libvirt_->find(process.pid, in_scope ? Realtime{0} : start_of(process));
}

bool LedgerSurroundings::is_recorded_helper(ProcessId process) const {
  return libvirt_ != nullptr && libvirt_->names_helper(process.pid, start_of(process));
}

Realtime LedgerSurroundings::start_of(ProcessId process) const {
  const Nanoseconds since_boot = kTick * static_cast<std::int64_t>(process.start);
  return now_.realtime - std::chrono::duration_cast<Realtime>(now_.boottime - since_boot);
}

std::vector<VmScope> vm_scopes(const UnitLedger& units) {
  std::vector<VmScope> scopes;
  for (const UnitAccount* const unit : units.current()) {
    if (unit->vm_scope != unit) continue;
    scopes.push_back({unit->incarnation, unit->workload.get(), claimant_in(unit, kRootUser)});
  }
  return scopes;
}

}  // namespace keplerd
