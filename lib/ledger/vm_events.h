// SPDX-License-Identifier: Apache-2.0
// What happened to VMs lately, for those who follow it.
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

  // The last ones, oldest first; never null, and never changed.
  std::shared_ptr<const std::vector<VmEvent>> last() const { return last_; }

 private:
  std::uint64_t count_ = 0;
  std::shared_ptr<const std::vector<VmEvent>> last_ = std::make_shared<std::vector<VmEvent>>();
};

}  // namespace keplerd
