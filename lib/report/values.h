// SPDX-License-Identifier: Apache-2.0
// Values of fields that are more than a number or a text: the zones of a row, the parts of a VM; and which
// values are absent.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "report/report.h"

namespace keplerd {

// Energies by zone of the row, in the report's order. Shown are those of zones that are divided.
struct ZoneShares {
  const Report& report;
  std::span<const ZoneShare> shares;
  const EarlierUsage* earlier;  // null: nothing was counted earlier
};

// Parts of a VM, and of their energies what was counted under earlier instance ids.
struct VmParts {
  std::span<const VmPart> parts;
  const EarlierUsage* earlier;  // as above
};

// Of the energy of the row's zone `i`, or of a part of a VM: what was counted under earlier instance ids.
Microjoules earlier_of(const ZoneShares& zones, std::size_t i);
Microjoules earlier_idle_of(const ZoneShares& zones, std::size_t i);  // of the idle energy of zone `i`
Microjoules earlier_of(const VmParts& breakdown, const VmPart& part);

// An absent value has no key in JSON and D-Bus details.
template <class T>
constexpr bool is_absent(const T&) {
  return false;
}
template <class T>
constexpr bool is_absent(const std::optional<T>& value) {
  return !value;
}
inline bool is_absent(const std::shared_ptr<const std::string>& text) { return text == nullptr; }
inline bool is_absent(const VmParts& breakdown) { return breakdown.parts.empty(); }
inline bool is_absent(const VmMetadata& metadata) { return metadata.empty(); }
inline bool is_absent(const ZoneShares& zones) { return !zones.report.full; }

}  // namespace keplerd
