// SPDX-License-Identifier: Apache-2.0
// The monitoring groups of resctrl's default group, as they can be changed. A seam: only a kernel with
// resctrl has such files.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace keplerd {
class HostRoot;
}

namespace keplerd::resctrl {

class GroupFiles {
 public:
  virtual ~GroupFiles() = default;

  // Fails with ENOSPC if the hardware has no more groups.
  virtual Result<Done> make(const std::string& name) = 0;
  // Its threads are in the default group then.
  virtual Result<Done> remove(const std::string& name) = 0;
  // The thread leaves the group that it is in. "": the default group. Fails with ESRCH if it has ended.
  virtual Result<Done> move(std::int32_t thread, const std::string& name) = 0;
};

// Those of the kernel, below /sys/fs/resctrl.
class KernelGroupFiles final : public GroupFiles {
 public:
  // `host` must outlive it.
  explicit KernelGroupFiles(const HostRoot& host) : host_(host) {}

  Result<Done> make(const std::string& name) override;
  Result<Done> remove(const std::string& name) override;
  Result<Done> move(std::int32_t thread, const std::string& name) override;

 private:
  const HostRoot& host_;
};

}  // namespace keplerd::resctrl
