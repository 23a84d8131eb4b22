// SPDX-License-Identifier: Apache-2.0
// Keeps the ledger in the state directory from run to run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <systemd/sd-event.h>

#include "attribution/attributor.h"
#include "base/result.h"
#include "base/units.h"
#include "daemon/background_job.h"
#include "daemon/state_directory.h"
#include "ledger/ledger.h"
#include "ledger/state.h"

namespace keplerd {

class HostRoot;
struct EnergySettings;

class StateKeeper {
 public:
  // Energy that is invented or estimated has a file of its own, so that it never gets into the totals of
  // measured energy. Neither is ever taken but by name, so the name tells.
  StateKeeper(const HostRoot& host, StateDirectory directory, const EnergySettings& settings);

  struct Restored {
    Ledger ledger;
    std::vector<SavedReading> readings;  // of counters that still count: none after a reboot
  };
  // The ledger of the last run, or an empty one. Says so in the log where something is wrong.
  Restored restore(Realtime now);

  // How long save() waits for a save that is under way.
  static constexpr Nanoseconds kPatience = std::chrono::seconds(10);

  // Saves at once, unless a save in the background does not end within `patience`: there are never two
  // writers. `clean`: nothing is published after this. A failure is logged once until it works again.
  void save(LedgerState state, bool clean, Nanoseconds patience = kPatience);

  // Why totals are not saved now; unset where the last save went well, or is under way.
  const std::optional<std::string>& problem() const { return problem_; }

  // Saves without waiting for the disk. Skipped where the last such save is still under way.
  void save_in_background(sd_event* loop, LedgerState state);

 private:
  void finish(const Result<Done>& saved);

  StateDirectory directory_;
  std::string path_;
  std::string boot_id_;
  bool usable_ = true;  // false: there is a file that cannot be read; it is not written over
  std::optional<std::string> problem_;
  std::unique_ptr<BackgroundJob> job_;
};

}  // namespace keplerd
