// SPDX-License-Identifier: Apache-2.0
// Identifies a process by its pid and start time.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace keplerd {

// Unique, because pids are reused. `start` is in clock ticks since boot (field 22 of stat).
struct ProcessId {
  std::int32_t pid = 0;
  std::uint64_t start = 0;
  auto operator<=>(const ProcessId&) const = default;
};

std::string process_id_text(ProcessId id);  // "PID.STARTTIME"
std::optional<ProcessId> parse_process_id(std::string_view text);

}  // namespace keplerd
