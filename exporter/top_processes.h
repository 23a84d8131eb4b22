// SPDX-License-Identifier: Apache-2.0
// Selects the processes that are shown individually, and sums up the rest. Pure.
//
// Each tick selects the processes that used most recently: energy is halved after about half a minute, so
// that the selection does not change with every tick. The rest of the host's active energy belongs to the
// others: processes that are not shown, those that no sample saw, and the kernel. It is accumulated as it is
// used, because a counter must not decrease when a process becomes selected; this one counter starts with the
// exporter.
//
// So at each tick the powers of the selected processes and of the others add up to the host's active power,
// and from tick to tick their counters grow by as much as the host's.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exporter/rows.h"
#include "exporter/snapshot.h"

namespace keplerd::exporter {

class TopProcesses {
 public:
  explicit TopProcesses(std::size_t count) : count_(count) {}

  // Call it after each tick. The rows of chosen() point to these, which must stay valid until the next call.
  void take(const Rows<ProcessRow>& processes);

  // Call it afterwards, if both are of one sample, with the host's active usage.
  void balance(const EnergyByZone& active);

  // The rows shown so far are no longer known, and neither is what is used until the next take().
  void forget();

  // The rows are dropped for a while. The next take() is a tick like any other, in which everything that was
  // used meanwhile is counted.
  void pause();

  // At most `count`, with distinct pids.
  const std::vector<const ProcessRow*>& chosen() const { return chosen_; }

  // Everything used outside chosen(), as it was selected at the time of use; null while unknown. Its CPU time
  // covers processes only.
  const WorkloadRow* others() const { return current_ ? &others_ : nullptr; }

 private:
  struct Known {
    struct Counted {
      EnergyByZone energies;
      CpuTime cpu{0};
    };
    const ProcessRow* row = nullptr;  // of this tick; not used outside take()
    Counted counted;                  // accounted for
    double recent = 0;                // microjoules, with older ones fading
    bool shown = false, was_shown = false;
  };

  void take(const ProcessRow& row, Known& known, bool is_new);
  void choose();
  void count(Known& known);

  std::size_t count_;
  bool started_ = false;
  bool current_ = false;                             // balanced since the last loss or pause
  std::map<std::string, Known, std::less<>> known_;  // by id
  std::vector<const ProcessRow*> chosen_;
  WorkloadRow others_;
  // At any time since the last loss: active + *base_ = the selected processes' counters, as far as they grew
  // while selected, + others_. Unset: not balanced since.
  EnergyByZone shown_;
  std::optional<EnergyByZone> base_;
};

}  // namespace keplerd::exporter
