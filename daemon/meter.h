// SPDX-License-Identifier: Apache-2.0
// Takes a complete sample: reads the counters and the CPU usage, divides the window, books it, and creates
// the report. Starts to use a meter as soon as one appears, and switches when it dies or a better one
// appears.
//
// More than 20 methods: most hand one fact to the part that keeps it.
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
#include "attribution/platform/platform.h"
#include "config/settings.h"
#include "daemon/clock.h"
#include "daemon/libvirt/update.h"
#include "daemon/meter_log.h"
#include "daemon/namer.h"
#include "daemon/own_cost.h"
#include "daemon/problems.h"
#include "daemon/recent_faults.h"
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
  ~Meter();  // long, and not compiled in each file that has a meter

  // Before the first sample: its window begins with that sample of an earlier run on the same boot, unless it
  // was too long ago.
  void resume(const SavedUsage& usage);

  // Samples once. Never returns null; if the host cannot be read, or between the steps of a meter that moves
  // in steps (see EnergySource), returns the previous report.
  std::shared_ptr<const Report> sample();

  // The last report.
  const std::shared_ptr<const Report>& report() const { return report_; }
  // Its processes, created on first request; those of earlier reports are not available.
  const std::shared_ptr<const ProcessRows>& processes();

  // For reading names from files that may hang; without it they are read within a sample.
  void set_background(Background* background) { namer_.set_background(background); }

  // Takes an update from libvirt's helper; it takes effect with the next sample.
  void learn(const LibvirtUpdate& update);
  // Whether the helper is running; if not, its updates are dropped.
  void set_libvirt_connected(bool connected);
  // The drivers ("qemu", "xen") whose VMs are running.
  std::vector<std::string> libvirt_drivers() const;

  // The last sample, whose views are valid until the next one, and the zones of its readings.
  const Sample& last_sample() const { return sample_; }
  const std::vector<Zone>& zones() const { return keeper_.zones(); }
  // Whether samples must have all of UsageSample even if nothing here needs it.
  void set_recorded(bool recorded);

  // Whether the next samples read all processes; else those of groups that nobody has asked for are read
  // every ten seconds.
  void want_processes(bool wanted) { processes_wanted_ = wanted; }
  // Whether the last sample has not.
  bool lacks_processes() const;

  // The logins, as of the last sample.
  const Logins& logins() const { return logins_.logins(); }

  // Whether nothing is lost if samples are a few seconds apart.
  bool may_read_seldom() const { return keeper_.may_read_seldom(); }

  // Between two samples: takes what happens to cgroups (usage/cgroup_watch.h).
  int group_descriptor(CgroupQueue queue) const { return usage_.group_descriptor(queue); }
  void take_group_events(CgroupQueue queue) { usage_.take_group_events(queue); }

  // Divides by another model from the next sample on; until the first call, by Kepler's rules.
  void set_model(std::unique_ptr<Model> model);

  // What an earlier run had learned; dropped if that was on another processor.
  void restore_models(SavedModels saved);

  // Reports a problem that no sample shows (daemon/problems.h).
  void set_problem(ProblemKind kind, std::optional<std::string> what) {
    problems_.set(kind, std::move(what));
  }

  // Selects the meter by another choice, with the next sample.
  void set_source(SourceChoice choice) { keeper_.choose(std::move(choice)); }

  void set_limits(TerminatedLimits limits) { ledger_.set_limits(limits); }
  void set_watched(std::vector<WatchedUnit> units) { ledger_.set_watched(std::move(units)); }
  // From the next sample on. Trials are reported without being booked.
  void set_idle_placing(IdlePlacing placing);
  void set_idle_trials(std::vector<IdlePlacing> placings);

  // Returns memory that a flood of processes or cgroups needed to the kernel once it is over, instead of
  // keeping it for reuse here. Call it from time to time.
  void give_back_memory();

  // What to save, with the counters' readings.
  LedgerState state() const;
  const Ledger& ledger() const { return ledger_; }
  std::vector<SavedReading> readings() const;
  // The CPU times that have changed with the last sample.
  SavedUsage changed_usage() const;

 private:
  SavedModels learned() const;
  SavedUsage at_last_sample(SavedUsage usage) const;
  void choose_what_is_read();
  ProcessDemand process_demand() const;
  void find_source(const Instant& now);
  Instant read_counters();
  bool awaits_step(const Instant& at);
  void read_vms_threads();
  Evidence find_evidence();
  bool expects_records() const;

  const HostRoot& host_;
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
  Attributor attributor_{make_model(kKeplerRules)};
  Platform platform_;
  ReadingAges ages_;     // of the last sample's readings
  SavedModels learned_;  // while the model in use does not learn
  OwnCostReader own_cost_;
  MeterLog log_;
  RecentFaults recent_faults_;
  Problems problems_;
  ZoneReadings readings_;                  // the latest, while sample_ has those of the last sample
  bool zones_are_new_ = true;              // to the ledger: its rows still have the zones of the last report
  std::optional<Nanoseconds> last_start_;  // the last sample in which a program was new
  bool had_source_ = false;
  bool is_recorded_ = false;
  bool processes_wanted_ = true;
  IdlePlacing idle_placing_ = IdlePlacing::kSeparate;
  std::vector<IdlePlacing> idle_trials_;
  Sample sample_;
  std::size_t most_rows_ = 0;  // since memory was last returned
  std::shared_ptr<const Report> report_;
  std::shared_ptr<const ProcessRows> processes_;  // of report_; null: not requested yet
};

}  // namespace keplerd
