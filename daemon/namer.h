// SPDX-License-Identifier: Apache-2.0
// Names the ledger's containers, pods and VMs by their runtimes' files. Those belong to root: they name
// nothing that was created by a user or inside a container.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attribution/sample.h"
#include "base/units.h"
#include "daemon/libvirt/update.h"
#include "ledger/ledger.h"
#include "usage/halt_polling.h"
#include "workloads/libvirt_records.h"
#include "workloads/workload_names.h"

namespace keplerd {

class Namer {
 public:
  // `host` must outlive the namer.
  explicit Namer(const HostRoot& host)
      : host_(host), names_(host), lxc_(host, LibvirtRecords::kLxc), halt_polling_(host) {}

  // For files whose reading may block; null: they are read synchronously.
  void set_background(Background* background) { names_.set_background(background); }

  // Updates from libvirt's helper: domains that leave no status file, such as Xen's.
  void learn(const LibvirtUpdate& update);
  void forget_updates() { domains_.clear(); }

  // Names what is running, as of `now`; at most once a second, however often it is called. `libvirt`: root's
  // records; `expected`: as LibvirtRecords::refresh() has it.
  void name(Ledger& ledger, const LibvirtRecords& libvirt, bool expected, const Instant& now);

 private:
  void name_containers(Ledger& ledger);
  void name_vms(VmLedger& vms, const LibvirtRecords& libvirt, const Instant& now);
  void name_by_machined(const VmLedger& vms, const std::vector<VmAccount*>& nameless);
  void find_sessions(const VmLedger& vms, bool expected, Nanoseconds now);
  std::shared_ptr<const LibvirtStatus> status_of(const VmAccount& vm, const LibvirtRecords& libvirt) const;
  void ask_kvm(VmLedger& vms, const Instant& now);

  const HostRoot& host_;
  WorkloadNames names_;
  LibvirtRecords lxc_;
  std::map<std::uint32_t, LibvirtRecords> sessions_;                     // by user
  std::map<std::string, std::shared_ptr<const LibvirtStatus>> domains_;  // by DRIVER/ID
  HaltPolling halt_polling_;
  LastCheck polled_;
  std::optional<Nanoseconds> last_;
};

}  // namespace keplerd
