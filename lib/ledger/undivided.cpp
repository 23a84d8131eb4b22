// SPDX-License-Identifier: Apache-2.0
#include "ledger/undivided.h"

#include "ledger/container_ledger.h"

namespace keplerd {
namespace {

// Over the zones in the total, what was put off earlier for a group and is divided now, and what of it is
// other.
struct Late {
  Microjoules all, other;
};

Late late_of(const BookedWindow& window, std::size_t group) {
  Late late;
  for (std::size_t z = 0; z < window.zones.size(); ++z) {
    const ZoneAttribution& zone = window.attribution.zones[z];
    if (!window.in_total(z) || zone.late_group.empty()) continue;
    late.all += zone.late_group[group];
    late.other += zone.late_other[group];
  }
  return late;
}

// Of the unit and its container (null: none).
void add_undivided(UnitAccount& unit, ContainerAccount* container, Microjoules energy) {
  unit.undivided += energy;
  if (container != nullptr) container->undivided += energy;
}

// Ends what is undivided; `other` of it is other.
void end_undivided(UnitAccount& unit, ContainerAccount* container, Microjoules other) {
  unit.other += other;
  if (container != nullptr) {
    container->other += other;
    container->undivided -= unit.undivided;
  }
  unit.undivided = {};
}

}  // namespace

void forfeit_undivided(UnitAccount& unit, ContainerAccount* container) {
  end_undivided(unit, container, unit.undivided);
}

// If anything of it has been forfeited since, it is not known whose that was: then all is, and the processes
// have it in their totals only, as what they used in a unit that they have left.
void UnitLedger::settle(const BookedWindow& window,
                        const std::unordered_map<UnitAccount*, ContainerAccount*>& moved) {
  for (const auto& [unit, before] : moved) forfeit_undivided(*unit, before);
  grants_late_.assign(current_.size(), 0);
  for (std::size_t i = 0; i < current_.size(); ++i) {
    UnitAccount& unit = *current_[i];
    unit.behind = window.usage.groups[i].behind;
    if (unit.behind) {
      for (std::size_t z = 0; z < window.zones.size(); ++z)
        if (window.in_total(z)) add_undivided(unit, unit.container, window.attribution.zones[z].put_off[i]);
    } else if (unit.undivided != Microjoules{}) {
      const Late late = late_of(window, i);
      grants_late_[i] = late.all == unit.undivided ? 1 : 0;
      end_undivided(unit, unit.container, grants_late_[i] != 0 ? late.other : unit.undivided);
    }
  }
}

}  // namespace keplerd
