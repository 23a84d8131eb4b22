// SPDX-License-Identifier: Apache-2.0
// Running totals of host, zones, units, containers, pods, virtual machines and processes. They never
// decrease: the energy of what ends stays in what it was part of.
//
// More than 20 methods: it wires the ledgers of all kinds, and each of their parts of a report is one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attribution/attributor.h"
#include "ledger/account.h"
#include "ledger/container_ledger.h"
#include "ledger/idle_placement.h"
#include "ledger/idle_trials.h"
#include "ledger/process_ledger.h"
#include "ledger/refused_claims.h"
#include "ledger/state.h"
#include "ledger/unit_ledger.h"
#include "ledger/vm_ledger.h"
#include "ledger/watched_units.h"
#include "report/report.h"
#include "workloads/libvirt_records.h"
#include "workloads/machined_records.h"
#include "workloads/program_paths.h"

namespace keplerd {

// Information about the workloads of a window besides their cgroups and CPU time.
struct Evidence {
  FoundVms found;                           // VMs and their helpers newly found among its processes
  std::vector<FoundProgram> programs;       // of its new processes
  const Logins* logins = nullptr;           // null, here and below: not known
  const LibvirtRecords* libvirt = nullptr;  // root's
  const MachinedRecords* machined = nullptr;
};

inline constexpr std::string_view kRestZone = "platform:rest:0";

class Ledger {
 public:
  // Starts counting at `now` under a new instance id.
  Ledger(std::string instance_id, Realtime now);
  // Continues from `state`: under its instance id if it was saved at a clean exit, else under `instance_id`,
  // because later totals may have been published after the last save. `earlier`: the state with which that
  // instance id began; null: none did.
  Ledger(const LedgerState& state, const std::string& instance_id, const LedgerState* earlier = nullptr);
  Ledger(Ledger&&) noexcept;  // these are long, and not compiled in each file that has a ledger
  ~Ledger();

  void set_limits(TerminatedLimits limits) { limits_ = limits; }
  // Of the next windows.
  void set_watched(std::vector<WatchedUnit> units) { watched_.set(std::move(units)); }
  // From the next window on.
  void set_idle_placing(IdlePlacing placing) { idle_placing_ = placing; }
  // Policies whose figures the reports of the next windows show without booking them.
  void set_idle_trials(const std::vector<IdlePlacing>& placings) { idle_trials_.set(placings); }

  // Adds to the limits of `usage` the sizes of the VMs whose groups they are, as of the last window. To be
  // called before the window is booked, and recorded.
  void add_vm_sizes(UsageSample& usage) const { vms_.add_sizes(vm_registry_, usage); }

  // Sets the zones of the present source, in its order; none without a source. Totals of earlier zones are
  // kept.
  void set_zones(const std::vector<Zone>& zones, Realtime now);

  // Books the window that ends with `sample`.
  void apply(const Sample& sample, const Attribution& attribution, const Evidence& evidence = {});

  // Books what the platform has drawn in this window in addition to its parts (report/report.h), as the zone
  // kRestZone; unset: that is not known. After apply().
  void book_rest(std::optional<Microjoules> energy);

  // For names learnt from elsewhere.
  ContainerLedger& containers() { return containers_; }
  VmLedger& vms() { return vms_; }
  const VmLedger& vms() const { return vms_; }
  bool runs_vm(ProcessId process) const { return vm_registry_.of_process(process) != nullptr; }
  // Those that run VMs, and their helpers.
  std::vector<ProcessId> vm_processes() const;
  const ProcessLedger& processes() const { return processes_; }

  // Of the last window.
  std::vector<RefusedClaim> new_refused_claims() { return refused_claims_.take_changed(); }

  // The complete report after the last sample. The caller fills in the source's name and reason.
  std::unique_ptr<Report> report() const;
  // The processes of the last sample.
  std::unique_ptr<ProcessRows> process_rows() const;

  // The account of the running process `pid`, without its zones; nothing if it has none.
  std::optional<WorkloadRow> find_process(std::int32_t pid) const;

  // The state to save; the caller adds the boot id and the counters' readings.
  LedgerState state(Realtime now) const;

  // The same in parts, for the write-ahead log.
  std::vector<ZoneState> zone_states() const;
  const UnitLedger& units() const { return units_; }
  const ContainerLedger& containers() const { return containers_; }
  std::uint64_t discarded_windows() const { return discarded_windows_; }
  const std::string& instance_id() const { return instance_id_; }
  Realtime realtime() const { return realtime_; }

 private:
  struct ZoneAccount {
    Zone zone;
    bool current = false;
    Microjoules energy, idle, kernel, unattributed;
    Microjoules placed;  // of `idle`, what was placed on workloads
    Microjoules window, window_idle;
    std::optional<std::string> problem;
    Realtime since{0};
    std::optional<EarlierZone> earlier;
  };

  void apply_zone(std::size_t index, const ZoneAttribution& attribution, const Result<Microjoules>& reading,
                  Nanoseconds window);
  void place_idle(const BookedWindow& window);
  void prune(Realtime now);
  RowWindow row_window() const { return {sequence_, windows_, bounds_errors_}; }
  void report_zones(Report& report) const;
  static Microjoules outside_containers(const Report& report);
  EarlierHost earlier_host() const;
  void report_units(Report& report) const;
  void report_containers(const ContainerLedger::Accounts& accounts, Report& report,
                         std::vector<ContainerRow>& rows) const;
  void report_vms(Report& report) const;

  std::string instance_id_;
  Realtime since_;
  TerminatedLimits limits_;
  std::uint64_t sequence_ = 0;
  std::uint64_t discarded_windows_ = 0;
  std::optional<std::uint64_t> earlier_discarded_windows_;  // set: there are earlier totals
  Realtime realtime_{0};
  Nanoseconds monotonic_{0};
  Nanoseconds window_{0};
  std::optional<CpuTicks> ticks_;  // of the last sample
  std::optional<CpuUse> cpu_;      // in the last window
  bool bounds_errors_ = false;
  std::vector<ZoneAccount> zones_;
  std::vector<ZoneWindow> windows_;        // of zones_
  std::vector<std::size_t> source_zones_;  // the source's zones, as indices into zones_
  Microjoules outside_other_;
  UnitLedger units_;
  WatchedUnits watched_;
  IdlePlacing idle_placing_ = IdlePlacing::kSeparate;
  IdlePlacement idle_;
  IdleTrials idle_trials_;
  ContainerLedger containers_;
  RefusedClaims refused_claims_;
  VmRegistry vm_registry_;
  VmLedger vms_;
  ProcessLedger processes_;
};

}  // namespace keplerd
