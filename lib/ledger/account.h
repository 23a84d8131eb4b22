// SPDX-License-Identifier: Apache-2.0
// What ledgers of units and processes have in common.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "attribution/attributor.h"
#include "base/units.h"
#include "ledger/report.h"

namespace keplerd {

// How the zones of the ledger stand in the present window.
struct ZoneWindow {
  bool in_total = false;
  bool current = false;             // of the present source
  std::optional<Nanoseconds> span;  // over which its energy was drawn; unset: its power is not known
};

// A window as it is booked.
struct BookedWindow {
  const UsageSample& usage;
  const Attribution& attribution;
  const std::vector<std::size_t>& zones;     // the ledger's number for the source's zone i
  const std::vector<ZoneWindow>& standings;  // of the ledger's zones
  std::uint64_t sequence = 0;
  Realtime now{0};

  bool in_total(std::size_t source_zone) const { return standings[zones[source_zone]].in_total; }
};

// Energy by zone of the ledger: in all, and in the window `sequence`.
struct EnergyAccount {
  struct ZoneEnergy {
    Microjoules total, window;
  };
  std::vector<ZoneEnergy> zones;  // as far as it ever got something
  std::uint64_t sequence = 0;
  Nanoseconds cpu{0};
  Nanoseconds window_cpu{0};
  Realtime since{0};
  std::optional<Realtime> ended;  // unset: it runs

  void add(std::uint64_t window_sequence, std::size_t zone, Microjoules energy);
  void add_cpu(std::uint64_t window_sequence, Nanoseconds time);
  // Adds what `other` got in this window; nothing where it got nothing in it.
  void add_window(std::uint64_t window_sequence, const EnergyAccount& other);
  // Adds all of `other`, which came in earlier windows.
  void add_total(const EnergyAccount& other);
  // Over the zones that are in the host's total.
  Microjoules energy(const std::vector<ZoneWindow>& standings) const;
  Microjoules window_energy(std::uint64_t window_sequence, const std::vector<ZoneWindow>& standings) const;

 private:
  void begin(std::uint64_t window_sequence);
};

// Fills the common part of `row`; appends to `shares`, which must have room: rows refer to it.
void fill_row(const EnergyAccount& account, std::uint64_t sequence, const std::vector<ZoneWindow>& zones,
              std::vector<ZoneShare>& shares, WorkloadRow& row);

// What a workload is does not change for those who hold it: it gets another one, changed by `change`.
template <class Info, class Change>
void change_info(std::shared_ptr<const Info>& info, Change change) {
  auto changed = std::make_shared<Info>(*info);
  change(*changed);
  info = std::move(changed);
}

// How long ended workloads are kept.
struct TerminatedLimits {
  std::optional<std::size_t> max = 500;  // of a kind, those with the most energy; unset: no bound
  Microjoules min_energy{10'000'000};    // processes with less are not kept
  std::optional<Nanoseconds> retention = std::chrono::hours(48);  // unset: for ever
};

template <class Account>
struct Ended {
  Account* account;
  Microjoules energy;
  Realtime at;
};

// Of the ended workloads of one kind, those that the limits no longer keep: those that ended too long ago,
// and where there are too many, those with the least energy. Among equals the first go first.
template <class Account>
std::vector<Account*> overdue(std::vector<Ended<Account>> ended, const TerminatedLimits& limits,
                              Realtime now) {
  std::vector<Account*> out;
  std::erase_if(ended, [&](const Ended<Account>& one) {
    const bool too_old = limits.retention && now - one.at > *limits.retention;
    if (too_old) out.push_back(one.account);
    return too_old;
  });
  if (!limits.max || ended.size() <= *limits.max) return out;
  std::ranges::stable_sort(ended, std::less<>{}, &Ended<Account>::energy);
  ended.resize(ended.size() - *limits.max);
  for (const Ended<Account>& one : ended) out.push_back(one.account);
  return out;
}

}  // namespace keplerd
