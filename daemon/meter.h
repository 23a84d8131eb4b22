// SPDX-License-Identifier: Apache-2.0
// Takes a sample from end to end: reads the counters and the CPU's users, divides the window, books it, and
// makes the report. Takes a meter up as soon as one appears, and another when it dies or a better one
// appears.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attribution/attributor.h"
#include "attribution/make_model.h"
#include "config/settings.h"
#include "daemon/clock.h"
#include "daemon/libvirt/update.h"
#include "daemon/meter_log.h"
#include "daemon/namer.h"
#include "daemon/own_cost.h"
#include "daemon/problems.h"
#include "energy/select_source.h"
#include "energy/source_keeper.h"
#include "ledger/ledger.h"
#include "usage/thread_reader.h"
#include "usage/usage_reader.h"
#include "workloads/libvirt_records.h"
#include "workloads/logins.h"
#include "workloads/machined_records.h"
#include "workloads/vm_finder.h"

namespace keplerd {

class HostRoot;

class Meter {
 public:
  // `host` must outlive the meter. `saved`: the counters' readings at the end of an earlier run on the same
  // boot.
  Meter(const HostRoot& host, SourceChoice choice, Ledger ledger, std::vector<SavedReading> saved,
        Clock clock, UsageLimits limits = {});

  // Samples once. The report is never null; where the host cannot be read it is the last one, and so it is
  // between the steps of a meter that moves in such (see EnergySource).
  std::shared_ptr<const Report> sample();

  // What was sampled last.
  const std::shared_ptr<const Report>& report() const { return report_; }
  // Its processes. They are made when first asked for: of reports before the last there are none to be had.
  const std::shared_ptr<const ProcessRows>& processes();

  // For reading names where that may hang, without which it is done within a sample.
  void set_background(Background* background) { namer_.set_background(background); }

  // What libvirt's helper tells; it shows with the next sample.
  void learn(const LibvirtUpdate& update);
  // Whether it is there to tell; without, what it told is forgotten.
  void set_libvirt_connected(bool connected);
  // The drivers ("qemu", "xen") whose VMs run.
  std::vector<std::string> libvirt_drivers() const;

  // Whose logins there are, as of the last sample.
  const Logins& logins() const { return logins_.logins(); }

  // Whether nothing is lost where samples are a few seconds apart.
  bool may_read_seldom() const { return keeper_.may_read_seldom(); }

  // Divides by another model from the next sample on; before the first call by that of the default rules.
  void set_model(std::unique_ptr<Model> model) { attributor_.set_model(std::move(model)); }

  // A problem that no sample shows (daemon/problems.h).
  void set_problem(ProblemKind kind, std::optional<std::string> what) {
    problems_.set(kind, std::move(what));
  }

  void set_limits(TerminatedLimits limits) { ledger_.set_limits(limits); }

  // What a flood of processes or cgroups took goes back to the kernel when it is over, and not only to be
  // used again here. To be called now and then.
  void give_back_memory();

  // What to save, with the counters' readings.
  LedgerState state() const;
  const Ledger& ledger() const { return ledger_; }
  std::vector<SavedReading> readings() const;

 private:
  void look_for_source(const Instant& now);
  Instant read_counters();
  bool awaits_step(const Instant& at);
  void read_vms_threads();
  Evidence find_evidence();

  SourceKeeper keeper_;
  Clock clock_;
  Ledger ledger_;
  std::vector<SavedReading> saved_;
  UsageReader usage_;
  VmFinder vms_;
  LoginFiles logins_;
  LibvirtRecords libvirt_;
  MachinedRecords machined_;
  ThreadReader threads_;
  Namer namer_;
  Attributor attributor_{make_model()};
  OwnCostReader own_cost_;
  MeterLog log_;
  Problems problems_;
  ZoneReadings readings_;      // of this time, while sample_ has those of the last sample
  bool zones_are_new_ = true;  // to the ledger: its rows have zones as the last report
  bool had_source_ = false;
  Sample sample_;
  std::size_t most_rows_ = 0;  // since memory was last given back
  std::shared_ptr<const Report> report_;
  std::shared_ptr<const ProcessRows> processes_;  // of report_; null: nobody has asked yet
};

}  // namespace keplerd
