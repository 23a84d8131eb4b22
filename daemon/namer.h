// SPDX-License-Identifier: Apache-2.0
// Gives the ledger's containers, pods and guests the names that their runtimes' files tell.
#pragma once

#include <optional>

#include "base/units.h"
#include "ledger/ledger.h"
#include "workloads/workload_names.h"

namespace keplerd {

class Namer {
 public:
  // `host` must outlive the namer.
  explicit Namer(const HostRoot& host) : names_(host) {}

  // Names what runs; at most once a second, as often as it may be called. `now`: of the monotonic clock.
  void name(Ledger& ledger, Nanoseconds now);

 private:
  WorkloadNames names_;
  std::optional<Nanoseconds> last_;
};

}  // namespace keplerd
