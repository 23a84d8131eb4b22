// SPDX-License-Identifier: Apache-2.0
// What happened to machines lately, for those who follow it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ledger/report.h"

namespace keplerd {

class MachineEvents {
 public:
  void tell(const MachineInfo& machine, std::optional<Uid> owner, std::string event,
            std::optional<std::string> reason, Realtime at);

  // The last ones, oldest first; never null, and never changed.
  std::shared_ptr<const std::vector<MachineEvent>> last() const { return last_; }

 private:
  std::uint64_t count_ = 0;
  std::shared_ptr<const std::vector<MachineEvent>> last_ = std::make_shared<std::vector<MachineEvent>>();
};

}  // namespace keplerd
