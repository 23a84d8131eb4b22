// SPDX-License-Identifier: Apache-2.0
#include "ledger/machine_events.h"

#include <algorithm>
#include <utility>

namespace keplerd {
namespace {

// A thousand machines that end at once are told in one report.
constexpr std::size_t kMost = 2000;

std::uint64_t last_number(const Report& report) {
  return report.machine_events && !report.machine_events->empty() ? report.machine_events->back().number : 0;
}

}  // namespace

std::span<const MachineEvent> events_since(const Report* earlier, const Report& report) {
  if (earlier == nullptr || !report.machine_events) return {};
  const std::span<const MachineEvent> all = *report.machine_events;
  const auto first = std::ranges::upper_bound(all, last_number(*earlier), {}, &MachineEvent::number);
  return {first, all.end()};
}

void MachineEvents::tell(const MachineInfo& machine, std::optional<Uid> owner, std::string event,
                         std::optional<std::string> reason, Realtime at) {
  auto events = std::make_shared<std::vector<MachineEvent>>();
  const auto& old = *last_;
  const auto kept = old.size() < kMost ? old.begin() : old.end() - kMost + 1;
  events->assign(kept, old.end());
  events->push_back({++count_, at, machine.id, machine.name, owner, std::move(event), std::move(reason)});
  last_ = std::move(events);
}

}  // namespace keplerd
