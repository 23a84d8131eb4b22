// SPDX-License-Identifier: Apache-2.0
// Keeps the ledger from run to run: saved in the state directory now and then, and what came since in the
// write-ahead log. Numbers are published after log(), so that a run that is killed takes nothing back.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <systemd/sd-event.h>

#include "attribution/attributor.h"
#include "base/result.h"
#include "base/units.h"
#include "daemon/background_job.h"
#include "daemon/state_directory.h"
#include "daemon/write_ahead_file.h"
#include "ledger/ledger.h"
#include "ledger/log/writer.h"
#include "ledger/state.h"
#include "ledger/state_file.h"

namespace keplerd {

class HostRoot;
struct EnergySettings;

class StateKeeper {
 public:
  // Energy that is invented or estimated has a file of its own, so that it never gets into the totals of
  // measured energy. Neither is ever taken but by name, so the name decides.
  // `log_directory`: where the write-ahead log is; empty: there is none.
  StateKeeper(const HostRoot& host, StateDirectory directory, const EnergySettings& settings,
              const std::string& log_directory = {});

  // Whether both settings count in the same file.
  static bool share_totals(const EnergySettings& a, const EnergySettings& b);

  struct Restored {
    Ledger ledger;
    std::vector<SavedReading> readings;  // of counters that still count: none after a reboot
    SavedModels models;
    std::optional<SavedUsage> usage = {};  // CPU times at the last sample, on this boot
  };
  // The ledger of the last run, or an empty one. Says so in the log where something is wrong.
  Restored restore(Realtime now);

  // How long save() waits for a save that is under way.
  static constexpr Nanoseconds kPatience = std::chrono::seconds(10);

  // Saves at once, unless a save in the background does not end within `patience`: there are never two
  // writers. `clean`: nothing is published after this. A failure is logged once until it works again.
  void save(LedgerState state, bool clean, Nanoseconds patience = kPatience);

  // Appends what has changed since the last call to the write-ahead log, after each sample. The time of that
  // is the ledger's; `changed`: the CPU times that have changed with it.
  void log(const Ledger& ledger, const std::vector<SavedReading>& readings, const SavedUsage& changed);
  // Whether the log is so long that it is time for a save, where that may help.
  bool is_log_long() const { return log_.size() >= kLongLog && !problem_ && !(job_ && job_->is_busy()); }

  static constexpr std::size_t kLongLog = 16 << 20, kLongestLog = 64 << 20;

  // Why totals are not saved now, or would go back after a crash; unset where the last save went well, or is
  // under way, and the log has not failed since.
  const std::optional<std::string>& problem() const { return problem_ ? problem_ : log_problem_; }

  // Saves without waiting for the disk. Skipped where the last such save is still under way.
  void save_in_background(sd_event* loop, LedgerState state);

 private:
  Result<LoadedState> load_last() const;
  bool mark_unclean(LedgerState state) const;
  LedgerState redo(LedgerState state);
  Result<std::optional<std::size_t>> redo_log(LedgerState& state) const;
  Ledger continue_from(const LedgerState& state);
  std::optional<LedgerState> load_earlier(const LedgerState& state) const;
  Result<Done> save_earlier();
  void begin_save(LedgerState& state, bool clean);
  void finish(const Result<Done>& saved);
  void fail_log(const Error& error);

  StateDirectory directory_;
  std::string path_;
  std::string unclean_path_;  // where it is renamed to if it cannot be marked as unclean
  std::string earlier_path_;
  std::string boot_id_;
  bool usable_ = true;  // false: there is a file that cannot be read; it is not written over
  std::optional<LedgerState> unsaved_earlier_;  // the totals that earlier_path_ is to hold
  std::optional<std::string> problem_, log_problem_;
  bool has_log_;
  WriteAheadFile log_;
  LogWriter writer_;
  std::size_t save_point_ = 0;  // where in the log the save begins that is under way
  std::unique_ptr<BackgroundJob> job_;
};

}  // namespace keplerd
