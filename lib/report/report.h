// SPDX-License-Identifier: Apache-2.0
// The report that is published after each sample; never modified afterwards. Energies are totals
// since counting began; power is the mean of the last window, absent if unknown. The rows are in
// rows.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attribution/model_state.h"
#include "attribution/platform/rest_power.h"
#include "attribution/platform/wall_line.h"
#include "attribution/split.h"
#include "base/problem_kind.h"
#include "base/units.h"
#include "energy/source_probe.h"
#include "energy/zone.h"
#include "report/idle_trial.h"
#include "report/rows.h"
#include "workloads/owner.h"

namespace keplerd {

struct HostReport {
  Microjoules energy;  // active + idle; of the zones that are in the total
  Microjoules active;
  Microjoules idle;
  std::optional<Microwatts> power, active_power, idle_power;
  CpuTicks ticks;             // at the sample
  std::optional<CpuUse> cpu;  // of the last window; unset for the first sample
};

// Their sum is exactly the host's energy.
struct AccountsReport {
  Microjoules idle, kernel, workloads, unattributed;
};

// Of the host's totals, what was counted under earlier instance ids.
struct EarlierHost {
  Microjoules energy, idle;
  AccountsReport accounts;
  std::uint64_t discarded_windows = 0;
};

struct SourceReport {
  std::string name = "none";
  std::optional<Quality> quality;     // the worst of the zones in the total
  std::optional<std::string> reason;  // why there is no source, or why its quality is no better
  SourceProbes tried;                 // the state of each when it was last tried, best first
};

// The platform, that is, the whole host, by the best meter that covers it; and its rest: what it draws in
// addition to processors, memory and graphics cards, such as power supply, fans and disks.
struct PlatformReport {
  std::string id, name;  // of its zone
  Quality quality = Quality::kModelled;
  Microjoules energy;
  std::optional<Microwatts> power;
  std::optional<Microjoules> rest;       // unset: not known
  std::optional<Microwatts> rest_power;  // may be negative for a while, unlike its counter
  std::optional<Microwatts> rest_error;  // half the width of its 95 % interval
  std::optional<Nanoseconds> age;        // of the meter's last reading; unset: it is read with each sample
  std::optional<Nanoseconds> lag;        // learned, beyond the times of its readings; unset: not known
  // Of these energies, what was counted under earlier instance ids.
  std::optional<Microjoules> earlier, earlier_rest;
  std::optional<RestPower::Contradiction> contradiction;
};

// The line between the power of processors, memory and graphics cards, and that of the platform.
struct WallReport {
  WallLine::Fit fit;
  std::optional<Microwatts> power;  // by the line, of the last window
};

struct VmEvent {
  std::uint64_t number = 0;           // one more than the previous event's
  Realtime at{0};                     // of the sample that detected it
  std::string id, name;               // of the VM
  std::optional<Uid> owner;           // of the VM
  std::string event;                  // "started", "stopped", "paused", "resumed", "crashed"
  std::optional<std::string> reason;  // as libvirt reports it: "migrated", "saved", "destroyed"
};

// A refused claim: an id claimed by a workload but bound to another owner, or a VM that a helper claims to
// work for. The claimant is accounted separately, and sees nothing of the other owner's.
struct RefusedClaim {
  Realtime at{0};         // the latest
  std::string kind;       // "vm", "container", "pod", "helper" of a VM
  std::string id;         // the latest one claimed
  Uid owner = kRootUser;  // who claims it
  std::string container;  // id of the outermost root-owned container in which it is claimed; else empty
  std::uint64_t count = 0;
};

// A promise that keplerd cannot keep at present.
struct Problem {
  ProblemKind kind;
  std::string object;  // id of the zone concerned; else empty
  std::string what;    // readable description
  Realtime since{0};   // of the first report that includes it
};

// The cost of keplerd itself.
struct OwnCost {
  Nanoseconds cpu{0};                  // CPU time since it was started
  Nanoseconds window_cpu{0};           // of it, since the previous sample
  std::optional<std::int64_t> memory;  // anonymous memory, in bytes
  // Of its process, since it was started; unset if that has no row.
  std::optional<Microjoules> energy;
  std::optional<Microwatts> power;
};

struct Report {
  Report();
  ~Report();
  Report(const Report&) = delete;  // not copyable: rows refer to `shares`
  Report& operator=(const Report&) = delete;

  // False: filtered for a caller without full access. Accounts, what is outside them, VMs' events, the
  // per-zone parts of a row and the parts of a VM are then unknown.
  bool full = true;

  std::uint64_t sequence = 0;
  Realtime realtime{0};
  Nanoseconds monotonic{0};
  Nanoseconds window{0};  // since the previous sample; 0 for the first
  std::string instance_id;
  Realtime since{0};
  std::optional<EarlierHost> earlier;  // unset: instance_id is the first
  std::uint64_t discarded_windows = 0;
  std::size_t groups_left_out =
      0;  // cgroups beyond the limits of number or depth: counted in their ancestors
  // Cgroups that were removed before they could be read a last time, since keplerd was started: what they had
  // used since the sample before is in their parents.
  std::uint64_t missed_ends = 0;
  std::size_t processes_left_out = 0;  // beyond the limit: counted in their units' `other`
  OwnCost own_cost;
  std::vector<Problem> problems;

  SourceReport source;
  RulesInForce rules;                  // of the last window
  std::vector<ZoneModelState> models;  // of zones; only what callers without full access may see if not full
  HostReport host;
  AccountsReport accounts;
  std::optional<PlatformReport> platform;  // unset: no meter covers it
  std::optional<WallReport> wall;          // unset: not calibrated, or not for the caller
  // The part of accounts.workloads that no row shows any more: processes outside any unit that ended or
  // moved, and units that are no longer kept.
  Microjoules outside_other;
  // accounts.workloads less the energy of all containers and pods without a parent: what was used outside
  // them. Negative if one that was inside another, which has its energy as well, has left it.
  Microjoules outside_containers;
  Quality workload_quality = Quality::kAttributed;

  std::vector<ZoneRow> zones;
  std::vector<UnitRow> units;                             // by id: parents before their children
  std::vector<VmRow> vms;                                 // by id, as the next two
  std::shared_ptr<const std::vector<VmEvent>> vm_events;  // the latest, oldest first; null: none
  std::vector<ContainerRow> containers;
  std::vector<ContainerRow> pods;
  std::vector<IdleTrial> idle_trials;  // of the policies that callers with full access have requested
  std::vector<ZoneShare> shares;       // what these rows refer to
  std::shared_ptr<const std::vector<RefusedClaim>> refused_claims;  // at most 100; null: none
  std::size_t running_processes = 0;
};

// The processes of a sample. As there may be very many, they are created on request only.
struct ProcessRows {
  ProcessRows();
  ~ProcessRows();
  ProcessRows(const ProcessRows&) = delete;  // not copyable: rows refer to `shares`
  ProcessRows& operator=(const ProcessRows&) = delete;

  std::vector<ProcessRow> rows;  // by pid and start
  // All have been read with this sample. If not, some have no power, and what they have used since they were
  // read is not in their energy yet.
  bool is_complete = true;
  std::vector<ZoneShare> shares;
};

// What a caller may see of a sample.
struct ReportView {
  std::shared_ptr<const Report> report;          // null: nothing
  std::shared_ptr<const ProcessRows> processes;  // null: not requested, or none may be seen

  explicit operator bool() const { return report != nullptr; }
};

// The VM events after `earlier` was made, which is a report of the same ledger; none if that is
// null.
std::span<const VmEvent> events_since(const Report* earlier, const Report& report);

}  // namespace keplerd
