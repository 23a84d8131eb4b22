// SPDX-License-Identifier: Apache-2.0
// Names and other details of containers and pods, besides their ids.
#include <tuple>
#include <utility>

#include "ledger/container_ledger.h"

namespace keplerd {

void ContainerLedger::describe(ContainerAccount& account, const LibvirtStatus* status) {
  if (status == nullptr && account.info->guest_state.empty()) return;  // the common case
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
