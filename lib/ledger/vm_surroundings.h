// SPDX-License-Identifier: Apache-2.0
// Locates processes for VmRegistry, by the ledgers that have booked the window and libvirt's records.
#pragma once

#include "attribution/sample.h"
#include "ledger/process_ledger.h"
#include "ledger/unit_ledger.h"
#include "workloads/libvirt_records.h"
#include "workloads/vm_registry.h"

namespace keplerd {

class LedgerSurroundings : public VmSurroundings {
 public:
  // `libvirt`: null if there are no records. `now`: the window's end.
  LedgerSurroundings(const ProcessLedger& processes, const LibvirtRecords* libvirt, const Instant& now)
      : processes_(processes), libvirt_(libvirt), now_(now) {}

  std::optional<VmPlace> place(ProcessId process) const override;
  std::map<VmScopeKey, ProcessId> oldest_in(const std::set<VmScopeKey>& scopes) const override;
  std::shared_ptr<const LibvirtStatus> record(ProcessId process) const override;
  bool is_recorded_helper(ProcessId process) const override;

 private:
  const ProcessAccount* find(ProcessId process) const;
  Realtime start_of(ProcessId process) const;

  const ProcessLedger& processes_;
  const LibvirtRecords* libvirt_;
  Instant now_;
};

// The topmost scopes of VMs in this window.
std::vector<VmScope> vm_scopes(const UnitLedger& units);

}  // namespace keplerd
