// SPDX-License-Identifier: Apache-2.0
// What ledgers of units and processes have in common.
#pragma once

#include <optional>
#include <vector>

#include "base/units.h"
#include "ledger/report.h"

namespace keplerd {

// How the zones of the ledger stand in the present window.
struct ZoneWindow {
  bool in_total = false;
  bool current = false;             // of the present source
  std::optional<Nanoseconds> span;  // over which its energy was drawn; unset: its power is not known
};

// Totals by zone of the ledger, and what of them came in the window `sequence`.
struct EnergyAccount {
  std::vector<Microjoules> total;
  std::vector<Microjoules> window;
  std::uint64_t sequence = 0;
  Nanoseconds cpu{0};
  Realtime since{0};
  std::optional<Realtime> ended;  // unset: it runs

  void add(std::uint64_t window_sequence, std::size_t zone, Microjoules energy);
  // Over the zones that are in the host's total.
  Microjoules energy(const std::vector<ZoneWindow>& zones) const;
};

// Fills the common part of `row`; appends to `shares`, which must have room: rows refer to it.
void fill_row(const EnergyAccount& account, std::uint64_t sequence, const std::vector<ZoneWindow>& zones,
              std::vector<ZoneShare>& shares, WorkloadRow& row);

// How long ended workloads are kept.
struct TerminatedLimits {
  std::optional<std::size_t> max = 500;  // of a kind, those with the most energy; unset: no bound
  Microjoules min_energy{10'000'000};    // processes with less are not kept
  std::optional<Nanoseconds> retention = std::chrono::hours(48);  // unset: for ever
};

}  // namespace keplerd
