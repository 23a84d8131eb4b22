// SPDX-License-Identifier: Apache-2.0
#include "ledger/vm_account.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "ledger/container_ledger.h"

namespace keplerd {
namespace {

void locate(VmInfo& info, const UnitAccount* unit) {
  info.unit.reset();
  info.container.reset();
  if (unit == nullptr) return;
  info.unit = unit->info->id;
  if (const auto* const container = enclosing_container(unit->container))
    info.container = container->info->id;
}

// OpenStack's display name; libvirt's is "instance-0000002a".
std::string title_of(const LibvirtStatus& status) {
  if (!status.title.empty()) return status.title;
  const auto name = status.metadata.find("openstack.name");
  return name == status.metadata.end() ? std::string() : name->second;
}

void take_status(VmInfo& info, const LibvirtStatus& status) {
  if (!status.name.empty()) info.name = status.name;
  info.title = title_of(status);
  info.guest_state = status.state;
  if (status.vcpus) info.vcpus = status.vcpus;
  info.metadata = status.metadata;
}

auto from_libvirt(const VmInfo& info) {
  return std::tie(info.name, info.title, info.guest_state, info.vcpus, info.metadata);
}

int count_vcpus(const PartTimes& times) {
  return static_cast<int>(std::ranges::count_if(times, [](const auto& part) { return is_vcpu(part.first); }));
}

}  // namespace

void describe(VmAccount& account, const Vm& vm, const UnitAccount* unit) {
  const bool is_scope = unit != nullptr && unit->vm_scope == unit;
  const std::string scope_name = is_scope ? unit->workload->name : std::string();
  account.status = nullptr;
  account.halt_polling.reset();
  account.guest_number = vm.command.number;
  if (account.guest_number.empty() && is_scope) account.guest_number = unit->workload->vm_number;
  const bool named_by_scope = !vm.command.name_given && !scope_name.empty();
  const std::string& name = named_by_scope ? scope_name : vm.command.name;
  account.named = vm.command.name_given || named_by_scope;
  change_info(account.info, [&](VmInfo& info) {
    info.uuid = vm.uuid.empty() ? std::nullopt : std::optional(vm.uuid);
    if (!name.empty()) info.name = name;
    info.hypervisor = hypervisor_name(vm.command.hypervisor);
    info.cpu_sockets = vm.command.cpu_sockets;
    info.guest_elsewhere = vm.command.guest_elsewhere;
    info.guest_state.clear();
    info.pid = vm.process.pid;
    locate(info, unit);
  });
}

void describe(VmAccount& account, std::shared_ptr<const LibvirtStatus> status) {
  if (account.status == status) return;
  account.status = std::move(status);
  VmInfo described = *account.info;
  if (account.status) {
    take_status(described, *account.status);
  } else {
    described.guest_state.clear();
  }
  if (from_libvirt(described) == from_libvirt(*account.info)) return;
  account.info = std::make_shared<const VmInfo>(std::move(described));
}

void rename(VmAccount& account, const std::string& name) {
  if (account.info->name == name) return;
  change_info(account.info, [&](VmInfo& info) { info.name = name; });
}

void relocate(VmAccount& account, const UnitAccount* unit) {
  if (unit == nullptr ? !account.info->unit : account.info->unit == unit->info->id) return;
  change_info(account.info, [unit](VmInfo& info) { locate(info, unit); });
}

void divide(VmAccount& account, const PartTimes& times, const BookedWindow& window,
            Apportioner& apportioner) {
  const bool described = account.status && account.status->vcpus;
  const int vcpus = described ? *account.status->vcpus : count_vcpus(times);
  if (account.info->vcpus != vcpus) {
    change_info(account.info, [vcpus](VmInfo& info) { info.vcpus = vcpus; });
  }
  std::vector<Microjoules*> parts;
  std::vector<std::int64_t> weights;
  Nanoseconds known{0};
  for (const auto& [name, time] : times) {
    parts.push_back(&account.parts[name]);
    weights.push_back(time.count());
    known += time;
  }
  const bool moved = account.energy.sequence == window.sequence;
  const Nanoseconds rest = (moved ? account.energy.window_cpu : Nanoseconds{0}) - known;
  weights.push_back(std::max(rest, Nanoseconds{0}).count());
  if (known == Nanoseconds{0}) return;
  std::vector<Microjoules> shares(weights.size());
  const EnergyAccount& energy = account.energy;
  apportioner.apportion(energy.window_active(window.sequence, window.standings) +
                            energy.window_late(window.sequence, window.standings),
                        weights, shares);
  for (std::size_t i = 0; i < parts.size(); ++i) *parts[i] += shares[i];
}

}  // namespace keplerd
