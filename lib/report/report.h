// SPDX-License-Identifier: Apache-2.0
// What publishers publish: all that is known after one sample, and never changed afterwards.
// Energies are totals since counting began; power is of the last window and absent where it is not known.
// The rows are in rows.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem_kind.h"
#include "base/units.h"
#include "energy/source_probe.h"
#include "energy/zone.h"
#include "report/rows.h"
#include "workloads/owner.h"

namespace keplerd {

struct HostReport {
  Microjoules energy;  // active + idle; of the zones that are in the total
  Microjoules active;
  Microjoules idle;
  std::optional<Microwatts> power, active_power, idle_power;
};

// They add up to the host's energy exactly.
struct AccountsReport {
  Microjoules idle, kernel, workloads, unattributed;
};

struct SourceReport {
  std::string name = "none";
  std::optional<Quality> quality;     // the worst of the zones in the total
  std::optional<std::string> reason;  // why there is none, or why the quality is no better
  SourceProbes tried;                 // what each was when it was last tried, the best first
};

struct VmEvent {
  std::uint64_t number = 0;           // one more than that of the event before
  Realtime at{0};                     // of the sample that saw it
  std::string id, name;               // of the VM
  std::optional<Uid> owner;           // of the VM
  std::string event;                  // "started", "stopped", "paused", "resumed", "crashed"
  std::optional<std::string> reason;  // as libvirt tells it: "migrated", "saved", "destroyed"
};

// An id that a workload claims which is another owner's, or a VM that a helper says it works for: it is
// counted apart, and nothing of the other is shown for it.
struct RefusedClaim {
  Realtime at{0};         // last
  std::string kind;       // "vm", "container", "pod", "helper" of a VM
  std::string id;         // what was claimed last
  Uid owner = kRootUser;  // who claims it
  std::string container;  // id of the outermost container of root's that it is claimed in; else empty
  std::uint64_t count = 0;
};

// What keplerd cannot do now of what it promises.
struct Problem {
  ProblemKind kind;
  std::string object;  // of a zone: its id; else empty
  std::string what;    // for people
  Realtime since{0};   // of the first report that has it
};

// What keplerd itself costs.
struct OwnCost {
  Nanoseconds cpu{0};                  // CPU time since it was started
  Nanoseconds window_cpu{0};           // of it, since the sample before
  std::optional<std::int64_t> memory;  // bytes that are no file's
  // Of its process, since it was started; unset where that has no row.
  std::optional<Microjoules> energy;
  std::optional<Microwatts> power;
};

struct Report {
  Report() = default;
  Report(const Report&) = delete;  // rows refer to `shares`
  Report& operator=(const Report&) = delete;

  // False: what a caller without full access may see of one. Accounts, outside_other, VMs' events, the
  // parts of a row by zone and those of a VM are then not known.
  bool full = true;

  std::uint64_t sequence = 0;
  Realtime realtime{0};
  Nanoseconds monotonic{0};
  Nanoseconds window{0};  // since the sample before; 0 at the first
  std::string instance_id;
  Realtime since{0};
  std::uint64_t discarded_windows = 0;
  std::size_t groups_left_out = 0;     // cgroups that are too many or too deep: counted in those above them
  std::size_t processes_left_out = 0;  // that are too many: counted in their units' `other`
  OwnCost own_cost;
  std::vector<Problem> problems;

  SourceReport source;
  HostReport host;
  AccountsReport accounts;
  // Of accounts.workloads, what no row shows any more: processes outside any unit that ended or moved, and
  // units that are no longer kept.
  Microjoules outside_other;
  Quality workload_quality = Quality::kAttributed;

  std::vector<ZoneRow> zones;
  std::vector<UnitRow> units;                             // by id: parents before their children
  std::vector<VmRow> vms;                                 // by id, as the next two
  std::shared_ptr<const std::vector<VmEvent>> vm_events;  // the last ones, oldest first; null: none
  std::vector<ContainerRow> containers;
  std::vector<ContainerRow> pods;
  std::vector<ZoneShare> shares;                                    // what these rows refer to
  std::shared_ptr<const std::vector<RefusedClaim>> refused_claims;  // at most 100; null: none
  std::size_t running_processes = 0;
};

// The processes of a sample. There may be very many: they are made when somebody asks for them.
struct ProcessRows {
  ProcessRows() = default;
  ProcessRows(const ProcessRows&) = delete;  // rows refer to `shares`
  ProcessRows& operator=(const ProcessRows&) = delete;

  std::vector<ProcessRow> rows;  // by pid and start
  std::vector<ZoneShare> shares;
};

// What somebody sees of a sample.
struct ReportView {
  std::shared_ptr<const Report> report;          // null: nothing
  std::shared_ptr<const ProcessRows> processes;  // null: not asked for, or none may be seen

  explicit operator bool() const { return report != nullptr; }
};

// What happened to VMs after `earlier` was made, a report of the same ledger; nothing where that is
// null.
std::span<const VmEvent> events_since(const Report* earlier, const Report& report);

}  // namespace keplerd
