// SPDX-License-Identifier: Apache-2.0
// Gives the ledger's containers, pods and machines the names that their runtimes' files tell.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attribution/sample.h"
#include "base/units.h"
#include "daemon/libvirt/news.h"
#include "ledger/ledger.h"
#include "usage/halt_polling.h"
#include "workloads/libvirt_records.h"
#include "workloads/workload_names.h"

namespace keplerd {

class Namer {
 public:
  // `host` must outlive the namer.
  explicit Namer(const HostRoot& host)
      : host_(host),
        names_(host),
        libvirt_(host, LibvirtRecords::kQemu),
        lxc_(host, LibvirtRecords::kLxc),
        halt_polling_(host) {}

  // What libvirt's helper tells: of domains that leave no status file, such as Xen's.
  void learn(const LibvirtNews& news);
  void forget_news() { told_.clear(); }

  // Names what runs, as of `now`; at most once a second, as often as it may be called.
  void name(Ledger& ledger, const Instant& now);

 private:
  void name_containers(Ledger& ledger, const Instant& now);
  void name_machines(MachineLedger& machines, const Instant& now);
  void name_by_machined(const MachineLedger& machines, const std::vector<MachineAccount*>& nameless);
  void find_sessions(const MachineLedger& machines, Nanoseconds now);
  std::shared_ptr<const LibvirtStatus> status_of(const MachineAccount& machine) const;
  void ask_kvm(MachineLedger& machines, const Instant& now);

  const HostRoot& host_;
  WorkloadNames names_;
  LibvirtRecords libvirt_, lxc_;
  std::map<std::uint32_t, LibvirtRecords> sessions_;                  // by user
  std::map<std::string, std::shared_ptr<const LibvirtStatus>> told_;  // by DRIVER/ID
  HaltPolling halt_polling_;
  LastLook polled_;
  std::optional<Nanoseconds> last_;
};

}  // namespace keplerd
