// SPDX-License-Identifier: Apache-2.0
#include "ledger/vm_ledger.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace keplerd {
namespace {

// A VM of root's continues under its UUID whenever it is started again.
bool may_be_dormant(const VmAccount& account) {
  return account.energy.owner == kRootUser && account.evidence >= VmEvidence::kScope && account.info->uuid;
}

}  // namespace

void VmLedger::apply(const BookedWindow& window, const VmRegistry& registry, const UnitLedger& units,
                     ProcessLedger& processes) {
  rename(registry);
  follow(window, registry, units, processes);
  book(window, registry, processes);
  divide_all(window, registry, units, processes);
  report_ends(window.now);
  mark_units(registry, units);
  mark_processes(registry, processes);
}

void VmLedger::rename(const VmRegistry& registry) {
  for (const auto& [from, to] : registry.renamed()) {
    auto node = accounts_.extract(from);
    if (node.empty()) continue;
    node.key() = to;
    const std::string& id = to;
    change_info(node.mapped().info, [&id](VmInfo& info) { info.id = id; });
    accounts_.insert(std::move(node));
  }
}

// Gives each VM that runs its account.
void VmLedger::follow(const BookedWindow& window, const VmRegistry& registry, const UnitLedger& units,
                      const ProcessLedger& processes) {
  scopes_.clear();
  for (UnitAccount* const unit : units.current())
    if (unit->vm_scope == unit) scopes_.emplace(unit->incarnation, unit);
  std::erase_if(pending_, [this](const auto& entry) { return !scopes_.contains(entry.first); });
  running_.clear();
  for (auto& [id, account] : accounts_) account.vm = nullptr;
  if (known_.size() > registry.running().size() * 2) known_.clear();
  for (const auto& vm : registry.running()) {
    VmAccount& account = find_account(*vm, window.now);
    // Its end was within this window, and is no event yet.
    if (account.reported_running && account.number != vm->number && !first_window_)
      report_end_or_start(account, window.now);
    account.vm = vm.get();
    account.energy.ended.reset();
    account.is_dormant = false;
    account.energy.owner = vm->claimant.owner;
    account.evidence = std::max(account.evidence, vm->evidence);
    running_.push_back(&account);
    const UnitAccount* const unit = unit_of(*vm, processes);
    if (std::exchange(account.described, vm->described) != vm->described || account.number != vm->number)
      keplerd::describe(account, *vm, unit);
    account.number = vm->number;
    relocate(account, unit);
  }
}

// An id that is given away or bound again is a new description, too; an account that is renamed stays where
// it is.
VmAccount& VmLedger::find_account(const Vm& vm, Realtime now) {
  Known& known = known_[vm.number];
  if (known.account != nullptr && known.described == vm.described) return *known.account;
  const auto [entry, is_new] = accounts_.try_emplace(vm.id);
  if (is_new) {
    auto info = std::make_shared<VmInfo>();
    info->id = info->name = vm.id;
    entry->second.info = std::move(info);
    entry->second.energy.since = now;
  }
  known = {&entry->second, vm.described};
  return entry->second;
}

// Its scope, else the unit that its process is in; null outside any.
const UnitAccount* VmLedger::unit_of(const Vm& vm, const ProcessLedger& processes) const {
  if (!vm.scopes.empty()) {
    const auto scope = scopes_.find(vm.scopes.back());
    if (scope != scopes_.end()) return scope->second;
  }
  const auto process = processes.all().find(vm.process);
  return process == processes.all().end() ? nullptr : process->second.unit;
}

void VmLedger::book(const BookedWindow& window, const VmRegistry& registry, const ProcessLedger& processes) {
  for (const auto& [key, unit] : scopes_) {
    VmAccount* const account = account_of(registry.of_scope(key));
    if (account == nullptr) {
      pending_[key].add_window(window.sequence, unit->energy);
      continue;
    }
    if (const auto waiting = pending_.find(key); waiting != pending_.end()) {
      account->energy.add_total(waiting->second);
      pending_.erase(waiting);
    }
    account->energy.add_window(window.sequence, unit->energy);
  }
  for (VmAccount* const account : running_) {
    for (const ProcessId id : account->vm->processes) book_process(window, processes, id, *account);
  }
  for (const auto& [id, helper] : registry.helpers()) {
    if (VmAccount* const account = account_of(helper.vm)) book_process(window, processes, id, *account);
  }
}

// Unless a VM's scope has counted it.
void VmLedger::book_process(const BookedWindow& window, const ProcessLedger& processes, ProcessId id,
                            VmAccount& account) {
  const auto process = processes.all().find(id);
  if (process == processes.all().end()) return;
  const UnitAccount* const unit = process->second.unit;
  if (unit == nullptr || unit->vm_scope == nullptr)
    account.energy.add_window(window.sequence, process->second.energy);
}

// What each VM got in this window, among its parts.
void VmLedger::divide_all(const BookedWindow& window, const VmRegistry& registry, const UnitLedger& units,
                          const ProcessLedger& processes) {
  std::map<VmAccount*, PartTimes> by_group, by_thread;
  std::size_t group = kNoGroup;  // of the part before: those of a group follow each other
  PartTimes* of_group = nullptr;
  for (const PartUsage& part : window.usage.parts) {
    if (part.group == kNoGroup) {
      if (VmAccount* const account = account_of(registry.of_process(part.process)))
        by_thread[account][part_of_thread(part, *account)] += part.time;
      continue;
    }
    if (std::exchange(group, part.group) != part.group) {
      const UnitAccount* const unit = units.of_group(part.group);
      VmAccount* const account = unit == nullptr ? nullptr : account_with(*unit, registry);
      of_group = account != nullptr ? &by_group[account] : nullptr;
    }
    if (of_group != nullptr) (*of_group)[vm_part_of_cgroup(part.name)] += part.time;
  }
  std::erase_if(by_thread, [&](const auto& entry) {
    if (by_group.contains(entry.first)) return true;  // the same time again
    // QEMU names its threads only if it is started so: otherwise, all would be the emulator's.
    return std::ranges::none_of(entry.second, [](const auto& part) { return is_vcpu(part.first); });
  });
  by_group.merge(by_thread);
  for (const auto& [id, helper] : registry.helpers()) {
    const auto of_vm = by_group.find(account_of(helper.vm));
    const auto process = processes.all().find(id);
    if (of_vm == by_group.end() || process == processes.all().end()) continue;
    const EnergyAccount& account = process->second.energy;
    const UnitAccount* const unit = process->second.unit;
    const bool inside = unit != nullptr && unit->vm_scope != nullptr;  // the emulator's, or its own thread's
    if (!inside && account.sequence == window.sequence)
      of_vm->second[helper.command.program] += account.window_cpu;
  }
  for (const auto& [account, times] : by_group) divide(*account, times, window, apportioner_);
}

std::string VmLedger::part_of_thread(const PartUsage& part, const VmAccount& account) const {
  if (account.status) {
    const auto& threads = account.status->vcpu_threads;
    const auto vcpu = threads.find(part.thread);
    if (vcpu != threads.end()) return "vcpu" + std::to_string(vcpu->second);
  }
  return vm_part_of_thread(part.name);
}

void VmLedger::report_ends(Realtime now) {
  for (auto& [id, account] : accounts_) {
    const bool runs = account.runs();
    if (!runs && !account.energy.ended) account.energy.ended = now;
    if (runs == account.reported_running) continue;
    if (first_window_ && runs) {
      account.reported_running = true;
      continue;
    }
    const bool reason_may_come =
        end_reasons_expected_ && account.status && !account.status->of_session && !account.end_reason;
    if (!runs && reason_may_come && account.windows_since_end++ == 0) continue;
    report_end_or_start(account, now);
  }
  first_window_ = false;
}

void VmLedger::report_end_or_start(VmAccount& account, Realtime now) {
  account.windows_since_end = 0;
  account.reported_running = !account.reported_running;
  auto reason = account.reported_running ? std::nullopt : std::exchange(account.end_reason, std::nullopt);
  events_.add(*account.info, account.energy.owner, account.reported_running ? "started" : "stopped",
              std::move(reason), now);
  account.starting = account.reported_running;
  if (!account.reported_running) keplerd::describe(account, nullptr);
}

VmSize VmLedger::size_of(const Vm& vm) const {
  VmSize size = vm.command.size;
  const auto& status = account_of(&vm)->status;
  if (status && status->vcpus) size.vcpus = status->vcpus;
  if (status && status->memory) size.memory = status->memory;
  return size;
}

void VmLedger::add_sizes(const VmRegistry& registry, UsageSample& usage) const {
  if (usage.limits.empty() || running_.empty()) return;
  for (std::size_t i = 0; i < usage.groups.size(); ++i) {
    const Vm* const vm = registry.of_scope(usage.groups[i].incarnation);
    if (vm == nullptr) continue;
    const VmSize size = size_of(*vm);
    GroupLimits& limits = usage.limits[i];
    limits.vcpus = size.vcpus;
    if (size.memory) limits.memory = std::min(limits.memory.value_or(*size.memory), *size.memory);
  }
}

void VmLedger::describe(VmAccount& account, std::shared_ptr<const LibvirtStatus> status, Realtime now) {
  const std::string before = account.info->guest_state;
  keplerd::describe(account, std::move(status));
  const std::string& state = account.info->guest_state;
  if (state.empty() || before == state) return;
  const std::string& reason = account.status->reason;
  const bool starting = std::exchange(account.starting, false);
  const bool goes_on = state == "running" && reason != "booted";  // each boots paused, then runs
  if (before.empty() && !(starting && goes_on)) return;
  if (state == "running" && !goes_on) return;
  const std::string event = state == "running" ? "resumed" : state == "shutdown" ? "shutting-down" : state;
  events_.add(*account.info, account.energy.owner, event,
              reason.empty() ? std::nullopt : std::optional(reason), now);
}

void VmLedger::note_end(std::string_view id, const std::string& reason) {
  const auto account = accounts_.find(id);
  if (account != accounts_.end() && account->second.reported_running) account->second.end_reason = reason;
}

void VmLedger::mark_units(const VmRegistry& registry, const UnitLedger& units) {
  if (accounts_.empty()) return;
  for (UnitAccount* const unit : units.current()) unit->vm = account_with(*unit, registry);
}

// Of the VM in whose scope the unit is.
VmAccount* VmLedger::account_with(const UnitAccount& unit, const VmRegistry& registry) const {
  return unit.vm_scope == nullptr ? nullptr : account_of(registry.of_scope(unit.vm_scope->incarnation));
}

// Once for each change: rows of processes hold on to what they were given.
void VmLedger::mark_processes(const VmRegistry& registry, ProcessLedger& processes) {
  for (VmAccount* const account : running_) {
    const std::vector<ProcessId>& ids = account->vm->processes;
    if (account->shown == account->info && account->shown_to == ids.size()) continue;
    account->shown = account->info;
    account->shown_to = ids.size();
    for (const ProcessId id : ids) processes.set_vm(id, account->info);
  }
  for (const auto& [id, helper] : registry.helpers()) {
    if (const VmAccount* const account = account_of(helper.vm)) processes.set_vm(id, account->info);
  }
}

void VmLedger::prune(const TerminatedLimits& limits, const std::vector<ZoneWindow>& windows, Realtime now,
                     const UnitLedger& units, VmRegistry& registry) {
  std::vector<VmAccount*> dormant, gone;
  std::vector<Ended<VmAccount>> ended;
  for (auto& [id, account] : accounts_) {
    if (!account.energy.ended || account.runs()) continue;
    if (!account.is_dormant) {
      ended.push_back({&account, account.energy.energy(windows), *account.energy.ended});
    } else if (is_within(limits.vm_retention, *account.energy.ended, now)) {
      dormant.push_back(&account);
    } else {
      gone.push_back(&account);
    }
  }
  const auto leaving = overdue(std::move(ended), limits, now);
  for (VmAccount* const account : leaving) {
    account->is_dormant =
        may_be_dormant(*account) && is_within(limits.vm_retention, *account->energy.ended, now);
    (account->is_dormant ? dormant : gone).push_back(account);
  }
  if (dormant.size() > kMostDormant) {  // those that ended first go
    const auto first_kept = dormant.end() - kMostDormant;
    std::ranges::nth_element(dormant, first_kept, {},
                             [](const VmAccount* one) { return *one->energy.ended; });
    gone.insert(gone.end(), dormant.begin(), first_kept);
  }
  if (leaving.empty() && gone.empty()) return;
  std::unordered_set<const VmAccount*> without_row(leaving.begin(), leaving.end());
  without_row.insert(gone.begin(), gone.end());
  for (const auto& [id, unit] : units.all())
    if (without_row.contains(unit->vm)) unit->vm = nullptr;
  for (const VmAccount* const account : gone) {
    const std::string id = account->info->id;
    registry.forget(id);
    accounts_.erase(id);
  }
}

VmAccount& VmLedger::restore(VmInfo info) {
  VmAccount& account = accounts_[info.id];
  account.info = std::make_shared<const VmInfo>(std::move(info));
  return account;
}

}  // namespace keplerd
