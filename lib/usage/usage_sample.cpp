// SPDX-License-Identifier: Apache-2.0
#include "usage/usage_sample.h"

#include "base/parse.h"

namespace keplerd {

std::string process_id_text(ProcessId id) { return std::to_string(id.pid) + "." + std::to_string(id.start); }

std::optional<ProcessId> parse_process_id(std::string_view text) {
  const auto pid = parse_number<std::int32_t>(take_until(text, '.'));
  const auto start = parse_number<std::uint64_t>(text);
  if (!pid || !start) return std::nullopt;
  return ProcessId{*pid, *start};
}

}  // namespace keplerd
