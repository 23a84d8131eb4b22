// SPDX-License-Identifier: Apache-2.0
// Recent events of VMs, for clients that follow them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "report/report.h"

namespace keplerd {

class VmEvents {
 public:
  void add(const VmInfo& vm, std::optional<Uid> owner, std::string event, std::optional<std::string> reason,
           Realtime at);

  // The latest events, oldest first; never null, and never modified.
  std::shared_ptr<const std::vector<VmEvent>> last() const { return last_; }

 private:
  std::uint64_t count_ = 0;
  std::shared_ptr<const std::vector<VmEvent>> last_ = std::make_shared<std::vector<VmEvent>>();
};

}  // namespace keplerd
