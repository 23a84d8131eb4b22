// SPDX-License-Identifier: Apache-2.0
// Which accounts of processes may have changed: of the latest two windows, for those that copy accounts and
// keep their own place in this list. A host has many more processes than change in a window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "usage/process_id.h"

namespace keplerd {

class ChangedProcesses {
 public:
  // Another window begins: what changed before the last one is forgotten.
  void begin_window() {
    ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(last_window_));
    forgotten_ += last_window_;
    last_window_ = ids_.size();
  }
  // It was added or removed, or something of it may be other than before.
  void add(ProcessId id) { ids_.push_back(id); }

  // The end of the list: what is added from now on comes after it.
  std::uint64_t place() const { return forgotten_ + ids_.size(); }
  // What was added since then, some of it several times; nothing if some of it is forgotten.
  std::optional<std::span<const ProcessId>> since(std::uint64_t place) const {
    if (place < forgotten_ || place > this->place()) return std::nullopt;
    return std::span(ids_).subspan(static_cast<std::size_t>(place - forgotten_));
  }

 private:
  std::vector<ProcessId> ids_;
  std::uint64_t forgotten_ = 0;  // how many were in the list before
  std::size_t last_window_ = 0;  // how many of `ids_` were added before this window began
};

}  // namespace keplerd
