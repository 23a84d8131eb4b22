// SPDX-License-Identifier: Apache-2.0
// CPU time that KVM spends waiting for a guest to have work again, instead of giving the CPU away: real time
// of the vCPUs' threads, of which the guest knows nothing (Documentation/virt/kvm/halt-polling.rst). The
// kernel tells it in debugfs, kvm/PID-FD/halt_poll_{success,fail}_ns, where that is mounted and not locked
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

  // Looks which VMs there are.
  void refresh();

  // Since the VM that `pid` runs was started; unset where the kernel does not tell.
  std::optional<Nanoseconds> read(std::int32_t pid) const;

 private:
  const HostRoot& host_;
  std::multimap<std::int32_t, std::string> directories_;  // a process may have opened several VMs
};

}  // namespace keplerd
