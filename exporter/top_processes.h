// SPDX-License-Identifier: Apache-2.0
// Which processes are shown one by one, and what all others have used together. Pure.
//
// Of each tick those are shown that used most lately: what was used counts half after about half a minute, so
// that who leads does not change with every tick. What others use is added up as it is used, because a
// process that comes to be shown must not take away from a counter; this one counter begins with the
// exporter.
#pragma once

#include <cstddef>
#include <map>
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

  // What was shown is not known any more.
  void forget();

  // At most `count`; no two of the same pid.
  const std::vector<const ProcessRow*>& chosen() const { return chosen_; }

  // All that is not, and was not while it was used, one of chosen().
  const WorkloadRow& others() const { return others_; }

 private:
  struct Known {
    WorkloadRow counted;  // energies and CPU time that are accounted for
    double recent = 0;    // microjoules, those of long ago less
    bool shown = false;
  };

  void choose(const Rows<ProcessRow>& processes);
  void add_to_others(const ProcessRow& row, const WorkloadRow& counted);

  std::size_t count_;
  bool started_ = false;
  std::map<std::string, Known, std::less<>> known_;  // by id
  std::vector<const ProcessRow*> chosen_;
  WorkloadRow others_;
};

}  // namespace keplerd::exporter
