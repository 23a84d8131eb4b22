// SPDX-License-Identifier: Apache-2.0
// Writes usage files (lib/usage/usage_file.h, keplerd-meters(7)): what a program needs that knows for how
// long processes use graphics cards.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "usage/process_id.h"

namespace keplerd::meters {

// The uses of all devices, added up. Bounded: of a device, the processes that used it last are kept, and
// those that have not used it for a minute are forgotten once they have ended.
class DeviceUses {
 public:
  // Begins a reading at `now` (CLOCK_BOOTTIME). `running`: the processes that exist.
  void begin(Nanoseconds now, const std::set<ProcessId>& running);
  // The process used it for as long in addition; 0: it has it open.
  void add(const std::string& device, ProcessId process, Nanoseconds time);

  // The text of a device's file.
  std::string text(const std::string& device) const;

 private:
  struct Use {
    Nanoseconds busy{0};
    Nanoseconds last{0};  // when it was last used, or open
  };
  using Uses = std::map<ProcessId, Use>;

  Nanoseconds now_{0};
  std::map<std::string, Uses> devices_;
};

// Writes the texts of devices, by PCI address, to files in `directory`, and removes all others. Each file is
// replaced atomically.
Result<Done> write_usage(const std::string& directory, const std::map<std::string, std::string>& texts);

}  // namespace keplerd::meters
