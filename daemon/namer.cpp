// SPDX-License-Identifier: Apache-2.0
#include "daemon/namer.h"

namespace keplerd {
namespace {

constexpr Nanoseconds kPeriod = std::chrono::seconds(1);

}  // namespace

void Namer::name(Ledger& ledger, Nanoseconds now) {
  if (last_ && now - *last_ < kPeriod) return;
  last_ = now;
  names_.begin(now);
  for (auto& [id, container] : ledger.containers().containers()) {
    if (container.energy.ended) continue;
    if (auto name = names_.container(container.info->runtime, id))
      ContainerLedger::rename(container, *std::move(name));
  }
  for (auto& [id, pod] : ledger.containers().pods()) {
    if (pod.energy.ended) continue;
    if (auto name = names_.pod(id))
      ContainerLedger::rename(pod, std::move(name->name), std::move(name->name_space));
  }
  for (auto& [id, machine] : ledger.machines().all()) {
    const bool may_be_proxmox = !machine.number.empty() && machine.info->hypervisor == "kvm";
    if (machine.energy.ended || machine.name_given || !may_be_proxmox) continue;
    if (const auto name = names_.proxmox_guest(machine.number)) MachineLedger::rename(machine, *name);
  }
  names_.end();
}

}  // namespace keplerd
