// SPDX-License-Identifier: Apache-2.0
#include "usage/usage_sample.h"

#include <algorithm>

#include "base/parse.h"

namespace keplerd {

std::string process_id_text(ProcessId id) { return std::to_string(id.pid) + "." + std::to_string(id.start); }

std::optional<ProcessId> parse_process_id(std::string_view text) {
  const auto pid = parse_number<std::int32_t>(take_until(text, '.'));
  const auto start = parse_number<std::uint64_t>(text);
  if (!pid || !start) return std::nullopt;
  return ProcessId{*pid, *start};
}

std::size_t group_with(const UsageSample& sample, std::uint64_t incarnation) {
  const auto group = std::ranges::find(sample.groups, incarnation, &GroupUsage::incarnation);
  return group == sample.groups.end() ? kNoGroup : static_cast<std::size_t>(group - sample.groups.begin());
}

}  // namespace keplerd
