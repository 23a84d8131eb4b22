// SPDX-License-Identifier: Apache-2.0
#include "ledger/vm_events.h"

#include <algorithm>
#include <utility>

namespace keplerd {
namespace {

// A thousand VMs that end at once are told in one report.
constexpr std::size_t kMost = 2000;

std::uint64_t last_number(const Report& report) {
  return report.vm_events && !report.vm_events->empty() ? report.vm_events->back().number : 0;
}

}  // namespace

std::span<const VmEvent> events_since(const Report* earlier, const Report& report) {
  if (earlier == nullptr || !report.vm_events) return {};
  const std::span<const VmEvent> all = *report.vm_events;
  const auto first = std::ranges::upper_bound(all, last_number(*earlier), {}, &VmEvent::number);
  return {first, all.end()};
}

void VmEvents::add(const VmInfo& vm, std::optional<Uid> owner, std::string event,
                   std::optional<std::string> reason, Realtime at) {
  auto events = std::make_shared<std::vector<VmEvent>>();
  const auto& old = *last_;
  const auto kept = old.size() < kMost ? old.begin() : old.end() - kMost + 1;
  events->assign(kept, old.end());
  events->push_back({++count_, at, vm.id, vm.name, owner, std::move(event), std::move(reason)});
  last_ = std::move(events);
}

}  // namespace keplerd
