// SPDX-License-Identifier: Apache-2.0
// Gives the ledger's containers, pods and machines the names that their runtimes' files tell.
#pragma once

#include <optional>

#include "attribution/sample.h"
#include "base/units.h"
#include "ledger/ledger.h"
#include "usage/halt_polling.h"
#include "workloads/libvirt_records.h"
#include "workloads/workload_names.h"

namespace keplerd {

class Namer {
 public:
  // `host` must outlive the namer.
  explicit Namer(const HostRoot& host) : names_(host), libvirt_(host), halt_polling_(host) {}

  // Names what runs, as of `now`; at most once a second, as often as it may be called.
  void name(Ledger& ledger, const Instant& now);

 private:
  void name_machines(MachineLedger& machines, const Instant& now);
  void ask_kvm(MachineLedger& machines, const Instant& now);

  WorkloadNames names_;
  LibvirtRecords libvirt_;
  HaltPolling halt_polling_;
  std::optional<Nanoseconds> polled_;
  std::optional<Nanoseconds> last_;
};

}  // namespace keplerd
