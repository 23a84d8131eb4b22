// SPDX-License-Identifier: Apache-2.0
// Which processes are shown one by one, and what was used besides them. Pure.
//
// Of each tick those are shown that used most lately: what was used counts half after about half a minute, so
// that who leads does not change with every tick. All else that the host used while it was busy is the
// others': processes that are not shown, those that no sample saw, and the kernel. It is added up as it is
// used, because a process that comes to be shown must not take away from a counter; this one counter begins
// with the exporter.
//
// So at each tick the powers of the shown and of the others are the host's active power, and from tick to
// tick their counters grow by what the host's grows.
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

  // After each tick. The rows of chosen() are these; they must last until the next call.
  void take(const Rows<ProcessRow>& processes);

  // After that, where both are of one sample: what the host used while it was busy.
  void balance(const EnergyByZone& active);

  // What was shown is not known any more.
  void forget();

  // At most `count`; no two of the same pid.
  const std::vector<const ProcessRow*>& chosen() const { return chosen_; }

  // All that is not, and was not while it was used, one of chosen(); null as long as it is not known. Its CPU
  // time is that of processes alone.
  const WorkloadRow* others() const { return base_ ? &others_ : nullptr; }

 private:
  struct Known {
    WorkloadRow counted;  // energies and CPU time that are accounted for
    double recent = 0;    // microjoules, those of long ago less
    bool shown = false;
  };

  void choose(const Rows<ProcessRow>& processes);
  void count_shown(const ProcessRow& row, const WorkloadRow& counted);

  std::size_t count_;
  bool started_ = false;
  std::map<std::string, Known, std::less<>> known_;  // by id
  std::vector<const ProcessRow*> chosen_;
  WorkloadRow others_;
  // At any time since the last loss: active + *base_ = counters of the shown, as far as they grew while they
  // were shown, + others_. Unset: nothing was balanced since.
  EnergyByZone shown_;
  std::optional<EnergyByZone> base_;
};

}  // namespace keplerd::exporter
