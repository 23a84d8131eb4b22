// SPDX-License-Identifier: Apache-2.0
// What ledgers of units and processes have in common.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "attribution/attributor.h"
#include "base/units.h"
#include "report/report.h"

namespace keplerd {

// How the zones of the ledger stand in the present window.
struct ZoneWindow {
  bool in_total = false;
  bool current = false;             // of the present source
  std::optional<Nanoseconds> span;  // over which its energy was drawn; unset: its power is not known
};

// The sum over the zones that are in the host's total. `standings`: of the ledger's zones; has at least as
// many.
template <class Zone, class Standing, class Energy = std::identity>
Microjoules sum_in_total(const std::vector<Zone>& zones, const std::vector<Standing>& standings,
                         Energy energy = {}) {
  Microjoules sum;
  for (std::size_t zone = 0; zone < zones.size(); ++zone) {
    if (standings[zone].in_total) sum += std::invoke(energy, zones[zone]);
  }
  return sum;
}

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
    Microjoules idle, window_idle;  // of these, idle energy that was placed on it
    Microjoules window_late;        // of the total: from earlier windows, but known only in this one
    std::uint64_t counted = 0;      // sequence of the last window in which it was, as ZoneShare has it
  };
  std::vector<ZoneEnergy> zones;  // as far as it ever got something
  std::uint64_t sequence = 0;
  Microjoules error, window_error;  // of it; as WorkloadRow::error, over the zones in the total
  Nanoseconds cpu{0};
  Nanoseconds window_cpu{0};
  Realtime since{0};
  std::optional<Realtime> ended;                // unset: it runs
  std::optional<Uid> owner;                     // as WorkloadRow has it
  std::shared_ptr<const EarlierUsage> earlier;  // likewise

  void add(std::uint64_t window_sequence, std::size_t zone, Microjoules active);
  void add_idle(std::uint64_t window_sequence, std::size_t zone, Microjoules idle);
  // Of earlier windows: no part of this one's power.
  void add_late(std::uint64_t window_sequence, std::size_t zone, Microjoules active);
  // What it got of a zone in this window follows from what the hardware counted.
  void set_counted(std::uint64_t window_sequence, std::size_t zone);
  void add_error(std::uint64_t window_sequence, Microjoules error);
  void add_cpu(std::uint64_t window_sequence, Nanoseconds time);
  // Adds what `other` got in this window, the late part too; nothing where it got nothing in it.
  void add_window(std::uint64_t window_sequence, const EnergyAccount& other);
  // Adds all of `other`, which came in earlier windows.
  void add_total(const EnergyAccount& other);
  // Over the zones that are in the host's total.
  Microjoules energy(const std::vector<ZoneWindow>& standings) const;
  Microjoules idle(const std::vector<ZoneWindow>& standings) const;
  Microjoules window_energy(std::uint64_t window_sequence, const std::vector<ZoneWindow>& standings) const;
  Microjoules window_active(std::uint64_t window_sequence, const std::vector<ZoneWindow>& standings) const;
  Microjoules window_late(std::uint64_t window_sequence, const std::vector<ZoneWindow>& standings) const;

 private:
  void begin(std::uint64_t window_sequence);
  bool is_counted_or_nothing(std::uint64_t window_sequence, std::size_t zone) const;
};

// The zones of an account that was saved; `idle` has as many or fewer.
std::vector<EnergyAccount::ZoneEnergy> restored_zones(const std::vector<Microjoules>& energy,
                                                      const std::vector<Microjoules>& idle);

// Fills the common part of `row`; appends to `shares`, which must have room: rows refer to it.
struct RowWindow {
  std::uint64_t sequence = 0;
  const std::vector<ZoneWindow>& zones;
  bool bounds_errors = false;  // as Attribution has it
};
void fill_row(const EnergyAccount& account, const RowWindow& window, std::vector<ZoneShare>& shares,
              WorkloadRow& row);

// What a workload is does not change for those who hold it: it gets another one, changed by `change`.
template <class Info, class Change>
void change_info(std::shared_ptr<const Info>& info, Change change) {
  auto changed = std::make_shared<Info>(*info);
  change(*changed);
  info = std::move(changed);
}

// How long ended workloads are kept.
struct TerminatedLimits {
  // Of a kind, those with the most energy; unset: no bound.
  std::optional<std::size_t> max = 500;
  Microjoules min_energy{10'000'000};                             // processes with less are not kept
  std::optional<Nanoseconds> retention = std::chrono::hours(48);  // unset: for ever
  // Totals of the system's own VMs and services; unset: for ever.
  std::optional<Nanoseconds> vm_retention = std::chrono::hours(24 * 365);
};

// Whether what ended then is within this time still.
inline bool is_within(const std::optional<Nanoseconds>& retention, Realtime ended, Realtime now) {
  return !retention || now - ended <= *retention;
}

template <class Account>
struct Ended {
  Account* account;
  Microjoules energy;
  Realtime at;
};

// Whose ended workloads are counted together: of each ordinary user apart, so that nobody drives out others'.
enum class KeptOf { kAll, kEachUser };

// Of the ended workloads of one kind, those that the limits no longer keep: those that ended too long ago,
// and where there are too many, those with the least energy. Among equals the first go first.
template <class Account>
std::vector<Account*> overdue(std::vector<Ended<Account>> ended, const TerminatedLimits& limits, Realtime now,
                              KeptOf whose = KeptOf::kEachUser) {
  std::vector<Account*> out;
  std::erase_if(ended, [&](const Ended<Account>& one) {
    const bool too_old = !is_within(limits.retention, one.at, now);
    if (too_old) out.push_back(one.account);
    return too_old;
  });
  if (!limits.max || ended.size() <= *limits.max) return out;
  // Most energy first, and of equals the last.
  std::ranges::reverse(ended);
  std::ranges::stable_sort(ended, std::greater<>{}, &Ended<Account>::energy);
  std::map<Uid, std::size_t> kept;
  std::vector<Account*> least;
  for (const Ended<Account>& one : ended) {
    const Uid owner = one.account->energy.owner.value_or(kNobodyUser);
    const bool apart = whose == KeptOf::kEachUser && is_ordinary_user(owner);
    if (++kept[apart ? owner : kRootUser] > *limits.max) least.push_back(one.account);
  }
  out.insert(out.end(), least.rbegin(), least.rend());
  return out;
}

}  // namespace keplerd
