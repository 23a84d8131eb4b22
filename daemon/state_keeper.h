// SPDX-License-Identifier: Apache-2.0
// Keeps the ledger in the state directory from run to run.
#pragma once

#include <string>
#include <vector>

#include "attribution/attributor.h"
#include "daemon/state_directory.h"
#include "ledger/ledger.h"
#include "ledger/state.h"

namespace keplerd {

class HostRoot;
struct Settings;

class StateKeeper {
 public:
  // Energy that is invented or estimated has a file of its own, so that it never gets into the totals of
  // measured energy. Neither is ever taken but by name, so the name tells.
  StateKeeper(const HostRoot& host, StateDirectory directory, const Settings& settings);

  struct Restored {
    Ledger ledger;
    std::vector<SavedReading> readings;  // of counters that still count: none after a reboot
  };
  // The ledger of the last run, or an empty one. Says so in the log where something is wrong.
  Restored restore(Realtime now);

  // `clean`: nothing is published after this. A failure is logged once until it works again.
  void save(LedgerState state, bool clean);

 private:
  StateDirectory directory_;
  std::string path_;
  std::string boot_id_;
  bool usable_ = true;  // false: there is a file that cannot be read; it is not written over
  bool failed_ = false;
};

}  // namespace keplerd
