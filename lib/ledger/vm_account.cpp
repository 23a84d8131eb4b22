// SPDX-License-Identifier: Apache-2.0
#include "ledger/vm_account.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "ledger/container_ledger.h"

namespace keplerd {
namespace {

void locate(MachineInfo& info, const UnitAccount* unit) {
  info.unit.reset();
  info.container.reset();
  if (unit == nullptr) return;
  info.unit = unit->info->id;
  if (const auto* const container = enclosing_container(unit->container))
    info.container = container->info->id;
}

// OpenStack's name for people; libvirt's is "instance-0000002a".
std::string title_of(const LibvirtStatus& status) {
  if (!status.title.empty()) return status.title;
  const auto name = status.metadata.find("openstack.name");
  return name == status.metadata.end() ? std::string() : name->second;
}

void take_status(MachineInfo& info, const LibvirtStatus& status) {
  if (!status.name.empty()) info.name = status.name;
  info.title = title_of(status);
  info.guest_state = status.state;
  if (status.vcpus) info.vcpus = status.vcpus;
  info.metadata = status.metadata;
}

auto told_by_libvirt(const MachineInfo& info) {
  return std::tie(info.name, info.title, info.guest_state, info.vcpus, info.metadata);
}

int count_vcpus(const PartTimes& times) {
  return static_cast<int>(std::ranges::count_if(times, [](const auto& part) { return is_vcpu(part.first); }));
}

}  // namespace

void describe(VmAccount& machine, const Vm& vm, const UnitAccount* unit) {
  const bool is_scope = unit != nullptr && unit->vm_scope == unit;
  const std::string scope_name = is_scope ? unit->workload->name : std::string();
  machine.status = nullptr;
  machine.halt_polling.reset();
  machine.guest_number = vm.command.number;
  if (machine.guest_number.empty() && is_scope) machine.guest_number = unit->workload->machine_number;
  const bool named_by_scope = !vm.command.name_given && !scope_name.empty();
  const std::string& name = named_by_scope ? scope_name : vm.command.name;
  machine.named = vm.command.name_given || named_by_scope;
  change_info(machine.info, [&](MachineInfo& info) {
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

void describe(VmAccount& machine, std::shared_ptr<const LibvirtStatus> status) {
  if (machine.status == status) return;
  machine.status = std::move(status);
  MachineInfo told = *machine.info;
  if (machine.status) {
    take_status(told, *machine.status);
  } else {
    told.guest_state.clear();
  }
  if (told_by_libvirt(told) == told_by_libvirt(*machine.info)) return;
  machine.info = std::make_shared<const MachineInfo>(std::move(told));
}

void rename(VmAccount& machine, const std::string& name) {
  if (machine.info->name == name) return;
  change_info(machine.info, [&](MachineInfo& info) { info.name = name; });
}

void relocate(VmAccount& machine, const UnitAccount* unit) {
  if (unit == nullptr ? !machine.info->unit : machine.info->unit == unit->info->id) return;
  change_info(machine.info, [unit](MachineInfo& info) { locate(info, unit); });
}

void divide(VmAccount& machine, const PartTimes& times, const BookedWindow& window,
            Apportioner& apportioner) {
  const bool told = machine.status && machine.status->vcpus;
  const int vcpus = told ? *machine.status->vcpus : count_vcpus(times);
  if (machine.info->vcpus != vcpus) {
    change_info(machine.info, [vcpus](MachineInfo& info) { info.vcpus = vcpus; });
  }
  std::vector<Nanoseconds> weights;
  Nanoseconds known{0};
  for (const auto& [name, time] : times) {
    machine.parts.try_emplace(name);
    weights.push_back(time);
    known += time;
  }
  const bool moved = machine.energy.sequence == window.sequence;
  weights.push_back(std::max((moved ? machine.energy.window_cpu : Nanoseconds{0}) - known, Nanoseconds{0}));
  if (known == Nanoseconds{0}) return;
  std::vector<Microjoules> shares(weights.size());
  apportioner.apportion(machine.energy.window_energy(window.sequence, window.standings), weights, shares);
  std::size_t i = 0;
  for (const auto& [name, time] : times) machine.parts[name] += shares[i++];
}

}  // namespace keplerd
