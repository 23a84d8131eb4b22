// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"

#include <algorithm>

#include "report/values.h"

namespace keplerd {

// Long, and not compiled in each file that has one.
Report::Report() = default;
Report::~Report() = default;
ProcessRows::ProcessRows() = default;
ProcessRows::~ProcessRows() = default;
namespace {

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

Microjoules earlier_of(const ZoneShares& zones, std::size_t i) {
  const bool known = zones.earlier != nullptr && i < zones.earlier->zones.size();
  return known ? zones.earlier->zones[i] : Microjoules{};
}

Microjoules earlier_idle_of(const ZoneShares& zones, std::size_t i) {
  const bool known = zones.earlier != nullptr && i < zones.earlier->idle.size();
  return known ? zones.earlier->idle[i] : Microjoules{};
}

Microjoules earlier_of(const VmParts& breakdown, const VmPart& part) {
  if (breakdown.earlier == nullptr) return {};
  const auto found = std::ranges::find(breakdown.earlier->parts, part.name, &VmPart::name);
  return found == breakdown.earlier->parts.end() ? Microjoules{} : found->energy;
}

}  // namespace keplerd
