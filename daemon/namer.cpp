// SPDX-License-Identifier: Apache-2.0
#include "daemon/namer.h"

#include <set>
#include <string_view>

#include "workloads/unit_name.h"

namespace keplerd {
namespace {

constexpr Nanoseconds kPeriod = std::chrono::seconds(1);
constexpr std::size_t kMostDomains = 10'000;
constexpr std::size_t kMostSessions = 32;

}  // namespace

void Namer::name(Ledger& ledger, const LibvirtRecords& libvirt, bool expected, const Instant& now) {
  if (last_ && now.monotonic - *last_ < kPeriod) return;
  last_ = now.monotonic;
  names_.begin(now.monotonic);
  lxc_.refresh(now.monotonic, expected);
  name_containers(ledger);
  for (auto& [id, pod] : ledger.containers().pods()) {
    if (pod.energy.ended || !is_named_by_root(pod)) continue;
    if (auto name = names_.pod(id))
      ContainerLedger::rename(pod, std::move(name->name), std::move(name->name_space));
  }
  find_sessions(ledger.vms(), expected, now.monotonic);
  name_vms(ledger.vms(), libvirt, now);
  ask_kvm(ledger.vms(), now);
  names_.end();
}

// libvirt identifies its LXC domains by the process that monitors each, which is in the container's own
// cgroup.
void Namer::name_containers(Ledger& ledger) {
  std::map<const ContainerAccount*, const LibvirtStatus*> domains;
  for (const auto& [uuid, status] : lxc_.by_uuid()) {
    const ProcessAccount* const process = ledger.processes().newest(status->pid);
    if (process == nullptr || process->info->comm != "libvirt_lxc" || process->unit == nullptr) continue;
    const ContainerAccount* const container = process->unit->container;
    if (container != nullptr && is_named_by_root(*container)) domains[container] = status.get();
  }
  for (auto& [id, container] : ledger.containers().containers()) {
    const auto domain = domains.find(&container);
    const bool runs = !container.energy.ended;
    ContainerLedger::describe(container, runs && domain != domains.end() ? domain->second : nullptr);
    if (!runs || domain != domains.end() || !is_named_by_root(container)) continue;
    if (auto name = names_.container(container.info->runtime, id))
      ContainerLedger::rename(container, *std::move(name));
  }
}

// Users with VMs that are not in the system libvirt's status files may run a session libvirt.
void Namer::find_sessions(const VmLedger& vms, bool expected, Nanoseconds now) {
  std::set<std::uint32_t> users;
  for (const auto& [id, vm] : vms.all()) {
    if (!vm.runs() || vm.info->hypervisor != "kvm") continue;
    const Claimant& claimant = vm.vm->claimant;
    if (claimant.owner == kRootUser || !claimant.container.empty()) continue;
    if (users.size() < kMostSessions) users.insert(claimant.owner);
  }
  std::erase_if(sessions_, [&](const auto& session) { return !users.contains(session.first); });
  for (const std::uint32_t user : users) {
    if (!sessions_.contains(user)) sessions_.emplace(user, LibvirtRecords::of_session(host_, user));
  }
  for (auto& [user, records] : sessions_) records.refresh(now, expected);
}

// libvirt's status and Proxmox's configuration follow renames; the command line and the VM's own cgroup, from
// which the ledger has all other names, do not. VMs without a name in these may have one from machined.
void Namer::name_vms(VmLedger& vms, const LibvirtRecords& libvirt, const Instant& now) {
  std::vector<VmAccount*> nameless;
  for (auto& [id, vm] : vms.all()) {
    if (!vm.runs()) continue;
    vms.describe(vm, status_of(vm, libvirt), now.realtime);
    if (vm.status || vm.vm->claimant != Claimant{}) continue;
    const bool may_be_proxmox = vm.info->hypervisor == "kvm";
    if (const auto name = may_be_proxmox ? names_.proxmox_guest(vm.guest_number) : std::nullopt) {
      rename(vm, *name);
    } else if (!vm.named) {
      nameless.push_back(&vm);
    }
  }
  if (!nameless.empty()) name_by_machined(vms, nameless);
}

// machined knows one VM of a unit: if several run in it, it is unknown which one that is.
void Namer::name_by_machined(const VmLedger& vms, const std::vector<VmAccount*>& nameless) {
  std::map<std::string_view, int> count;
  const auto unit_of = [](const VmAccount& vm) {
    return vm.info->unit ? system_unit(*vm.info->unit) : std::string_view();
  };
  for (const auto& [id, vm] : vms.all()) {
    if (vm.runs()) ++count[unit_of(vm)];
  }
  for (VmAccount* const vm : nameless) {
    const std::string_view unit = unit_of(*vm);
    if (unit.empty() || count[unit] != 1) continue;
    if (const auto name = names_.machined(unit)) rename(*vm, *name);
  }
}

std::shared_ptr<const LibvirtStatus> Namer::status_of(const VmAccount& account,
                                                      const LibvirtRecords& libvirt) const {
  const Vm& vm = *account.vm;
  if (vm.evidence == VmEvidence::kRecord) return libvirt.find(vm.process.pid, {});
  if (!vm.claimant.container.empty()) return nullptr;
  if (vm.claimant.owner == kRootUser) {
    const auto found = domains_.find(account.info->hypervisor + "/" + account.guest_number);
    return found == domains_.end() ? nullptr : found->second;
  }
  // A user's session libvirt names that user's VMs, and no others.
  const auto session = sessions_.find(vm.claimant.owner);
  if (session == sessions_.end()) return nullptr;
  auto status = session->second.find(vm.process.pid, {});
  return status && status->uuid == vm.uuid ? status : nullptr;
}

void Namer::learn(const LibvirtUpdate& update) {
  if (update.kind == LibvirtUpdate::Kind::kDomain && update.driver == "xen") {
    if (domains_.size() >= kMostDomains) return;
    LibvirtStatus status;
    status.uuid = update.uuid;
    status.name = update.name;
    status.title = update.title;
    status.state = update.state;
    domains_["xen/" + std::to_string(update.id)] = std::make_shared<const LibvirtStatus>(std::move(status));
  } else if (update.kind == LibvirtUpdate::Kind::kEnded) {
    std::erase_if(domains_, [&](const auto& entry) { return entry.second->uuid == update.uuid; });
  }
}

void Namer::ask_kvm(VmLedger& vms, const Instant& now) {
  if (!polled_.is_due(now.monotonic, true)) return;
  halt_polling_.refresh();
  for (auto& [id, vm] : vms.all())
    if (vm.runs()) vm.halt_polling = halt_polling_.read(vm.info->pid);
}

}  // namespace keplerd
