// SPDX-License-Identifier: Apache-2.0
#include "ledger/vm_events.h"

#include <utility>

namespace keplerd {
namespace {

// A thousand VMs that end at once are still listed in one report.
constexpr std::size_t kMostEvents = 2000;

}  // namespace

void VmEvents::add(const VmInfo& vm, std::optional<Uid> owner, std::string event,
                   std::optional<std::string> reason, Realtime at) {
  auto events = std::make_shared<std::vector<VmEvent>>();
  const auto& old = *last_;
  const auto kept = old.size() < kMostEvents ? old.begin() : old.end() - kMostEvents + 1;
  events->assign(kept, old.end());
  events->push_back({++count_, at, vm.id, vm.name, owner, std::move(event), std::move(reason)});
  last_ = std::move(events);
}

}  // namespace keplerd
