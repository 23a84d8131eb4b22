// SPDX-License-Identifier: Apache-2.0
// CPU time that KVM spends polling for a guest to have work again, instead of yielding the CPU: it counts as
// time of the vCPUs' threads, but is invisible to the guest (Documentation/virt/kvm/halt-polling.rst). The
// kernel reports it in debugfs, kvm/PID-FD/halt_poll_{success,fail}_ns, if that is mounted and not locked
// down.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/units.h"

namespace keplerd {

class HostRoot;

class HaltPolling {
 public:
  // `host` must outlive it.
  explicit HaltPolling(const HostRoot& host) : host_(host) {}

  // Lists the present VMs.
  void refresh();

  // Since the VM of process `pid` was started; unset if the kernel does not report it.
  std::optional<Nanoseconds> read(std::int32_t pid) const;

 private:
  const HostRoot& host_;
  std::multimap<std::int32_t, std::string> directories_;  // a process may have several VMs open
};

}  // namespace keplerd
