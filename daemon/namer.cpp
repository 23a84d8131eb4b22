// SPDX-License-Identifier: Apache-2.0
#include "daemon/namer.h"

namespace keplerd {
namespace {

constexpr Nanoseconds kPeriod = std::chrono::seconds(1);
constexpr Nanoseconds kPollingPeriod = std::chrono::seconds(10);

}  // namespace

void Namer::name(Ledger& ledger, const Instant& now) {
  if (last_ && now.monotonic - *last_ < kPeriod) return;
  last_ = now.monotonic;
  names_.begin(now.monotonic);
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
  name_machines(ledger.machines(), now);
  ask_kvm(ledger.machines(), now);
  names_.end();
}

// libvirt's status and Proxmox's configuration follow renames; the command line, where the ledger has the
// names of all others from, does not.
void Namer::name_machines(MachineLedger& machines, const Instant& now) {
  libvirt_.refresh(now.monotonic);
  for (auto& [id, machine] : machines.all()) {
    if (machine.energy.ended) continue;
    machines.describe(machine, libvirt_.find(machine.info->uuid.value_or(""), machine.info->pid),
                      now.realtime);
    const bool may_be_proxmox =
        !machine.status && !machine.number.empty() && machine.info->hypervisor == "kvm";
    if (!may_be_proxmox) continue;
    if (const auto name = names_.proxmox_guest(machine.number)) rename(machine, *name);
  }
}

void Namer::ask_kvm(MachineLedger& machines, const Instant& now) {
  if (polled_ && now.monotonic - *polled_ < kPollingPeriod) return;
  polled_ = now.monotonic;
  halt_polling_.refresh();
  for (auto& [id, machine] : machines.all())
    if (machine.runs()) machine.halt_polling = halt_polling_.read(machine.info->pid);
}

}  // namespace keplerd
