// SPDX-License-Identifier: Apache-2.0
#include "daemon/namer.h"

namespace keplerd {
namespace {

constexpr Nanoseconds kPeriod = std::chrono::seconds(1);
constexpr std::size_t kMostTold = 10'000;

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
    machines.describe(machine, status_of(machine), now.realtime);
    const bool may_be_proxmox =
        !machine.status && !machine.number.empty() && machine.info->hypervisor == "kvm";
    if (!may_be_proxmox) continue;
    if (const auto name = names_.proxmox_guest(machine.number)) rename(machine, *name);
  }
}

std::shared_ptr<const LibvirtStatus> Namer::status_of(const MachineAccount& machine) const {
  if (auto status = libvirt_.find(machine.info->uuid.value_or(""), machine.info->pid)) return status;
  const auto told = told_.find(machine.info->hypervisor + "/" + machine.number);
  return told == told_.end() ? nullptr : told->second;
}

void Namer::learn(const LibvirtNews& news) {
  if (news.kind == LibvirtNews::Kind::kDomain && news.driver == "xen") {
    if (told_.size() >= kMostTold) return;
    LibvirtStatus status;
    status.uuid = news.uuid;
    status.name = news.name;
    status.title = news.title;
    status.state = news.state;
    told_["xen/" + std::to_string(news.id)] = std::make_shared<const LibvirtStatus>(std::move(status));
  } else if (news.kind == LibvirtNews::Kind::kEnded) {
    std::erase_if(told_, [&](const auto& entry) { return entry.second->uuid == news.uuid; });
  }
}

void Namer::ask_kvm(MachineLedger& machines, const Instant& now) {
  if (!polled_.is_due(now.monotonic, true)) return;
  halt_polling_.refresh();
  for (auto& [id, machine] : machines.all())
    if (machine.runs()) machine.halt_polling = halt_polling_.read(machine.info->pid);
}

}  // namespace keplerd
