// SPDX-License-Identifier: Apache-2.0
// CPU times (usage/saved_usage.h) in the write-ahead log: all of them at a save point, and with each sample
// those that have changed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "ledger/log/bytes.h"
#include "usage/saved_usage.h"

namespace keplerd {

void put(ByteWriter& out, const SavedUsage& usage);

// Brings them forward from a save point.
class RedoneUsage {
 public:
  // Both read what put() wrote; at the end of the record, there is nothing. Throw Malformed.
  void save_point(ByteReader& in);
  void sample(ByteReader& in);

  // Unset if they are not known.
  std::optional<SavedUsage> result() const;

 private:
  void take(ByteReader& in);
  void leave_behind(ByteReader& in);

  bool known_ = false;
  SavedUsage last_;  // without its lists
  std::map<std::uint64_t, Nanoseconds> groups_;
  std::map<ProcessId, SavedUsage::Process> processes_;
};

}  // namespace keplerd
