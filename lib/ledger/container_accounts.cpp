// SPDX-License-Identifier: Apache-2.0
// What becomes of the accounts of containers and pods: they are renamed, described, restored and dropped.
#include <algorithm>
#include <tuple>
#include <utility>

#include "ledger/container_ledger.h"
#include "workloads/identifier.h"

namespace keplerd {

void ContainerLedger::rename_account(Accounts& accounts, Accounts::iterator account, Uid owner) {
  const std::string id =
      free_id(owner, account->first, [&](const auto& taken) { return find(taken) != nullptr; });
  auto node = accounts.extract(account);
  node.key() = id;
  ContainerAccount& renamed = accounts.insert(std::move(node)).position->second;
  change_info(renamed.info, [&id](ContainerInfo& info) { info.id = id; });
  for (Accounts* const all : {&containers_, &pods_}) {
    for (auto& [key, inner] : *all) {
      if (inner.parent != &renamed) continue;
      change_info(inner.info, [&](ContainerInfo& info) {
        info.parent = id;
        if (renamed.info->is_pod) info.pod = id;
      });
    }
  }
}

// What it used inside its parent is its parent's own from now on.
void ContainerLedger::leave_parent(ContainerAccount& account) {
  const Microjoules left = std::exchange(account.in_parent, Microjoules{});
  if (account.parent == nullptr) return;
  account.parent->own += left;
  account.parent->other += left;
  account.parent = nullptr;
}

std::unordered_set<const UnitAccount*> ContainerLedger::prune(const TerminatedLimits& limits,
                                                              const std::vector<ZoneWindow>& windows,
                                                              Realtime now, const UnitLedger& units) {
  std::unordered_set<ContainerAccount*> gone;
  for (Accounts* const accounts : {&containers_, &pods_}) {
    std::vector<Ended<ContainerAccount>> ended;
    for (auto& [id, account] : *accounts) {
      if (account.energy.ended)
        ended.push_back({&account, account.energy.energy(windows), *account.energy.ended});
    }
    const auto removed = overdue(std::move(ended), limits, now);
    gone.insert(removed.begin(), removed.end());
  }
  std::unordered_set<const UnitAccount*> freed;
  if (gone.empty()) return freed;
  for (const auto& [id, unit] : units.all()) {
    const bool is_theirs = gone.contains(unit->container) ||
                           std::ranges::any_of(unit->containers, [&](const ContainerPart& part) {
                             return gone.contains(part.container) || gone.contains(part.outer);
                           });
    if (!is_theirs) continue;
    freed.insert(unit.get());
    unit->placed = false;
    unit->container = nullptr;
    unit->containers.clear();
  }
  for (ContainerAccount* const account : gone) remove(*account);
  return freed;
}

// Those inside it are in nothing then.
void ContainerLedger::remove(ContainerAccount& account) {
  leave_parent(account);
  for (Accounts* const accounts : {&containers_, &pods_}) {
    for (auto& [id, inner] : *accounts) {
      if (inner.parent != &account) continue;
      inner.parent = nullptr;
      inner.in_parent = Microjoules{};
      change_info(inner.info, [](ContainerInfo& info) { info.parent.reset(); });
    }
  }
  const std::shared_ptr<const ContainerInfo> info = account.info;
  (info->is_pod ? pods_ : containers_).erase(info->id);
}

ContainerAccount* ContainerLedger::find(const std::string& id) {
  for (Accounts* const accounts : {&containers_, &pods_}) {
    const auto entry = accounts->find(id);
    if (entry != accounts->end()) return &entry->second;
  }
  return nullptr;
}

ContainerAccount& ContainerLedger::restore(ContainerInfo info) {
  Accounts& accounts = info.is_pod ? pods_ : containers_;
  ContainerAccount& account = accounts[info.id];
  account.info = std::make_shared<const ContainerInfo>(std::move(info));
  return account;
}

void ContainerLedger::restored() {
  for (Accounts* const accounts : {&containers_, &pods_}) {
    for (auto& [id, account] : *accounts) {
      if (account.info->parent) account.parent = find(*account.info->parent);
    }
  }
}

void ContainerLedger::describe(ContainerAccount& account, const LibvirtStatus* status) {
  if (status == nullptr && account.info->guest_state.empty()) return;  // as of nearly all
  const auto facts = [](const ContainerInfo& info) {
    return std::tie(info.name, info.uuid, info.title, info.guest_state);
  };
  ContainerInfo described = *account.info;
  described.guest_state = status == nullptr ? std::string() : status->state;
  if (status != nullptr) {
    if (!status->name.empty()) described.name = status->name;
    described.uuid = status->uuid;
    described.title = status->title;
  }
  if (facts(described) == facts(*account.info)) return;
  account.info = std::make_shared<const ContainerInfo>(std::move(described));
}

void ContainerLedger::rename(ContainerAccount& account, std::string name, std::string name_space) {
  if (account.info->name == name && account.info->name_space == name_space) return;
  change_info(account.info, [&](ContainerInfo& info) {
    info.name = std::move(name);
    info.name_space = std::move(name_space);
  });
}

}  // namespace keplerd
