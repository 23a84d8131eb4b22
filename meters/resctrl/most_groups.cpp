// SPDX-License-Identifier: Apache-2.0
#include "meters/resctrl/most_groups.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/parse.h"
#include "host/host_root.h"
#include "meters/resctrl/groups.h"

namespace keplerd::resctrl {
namespace {

// Empty if it cannot be read.
std::string_view read_info(const HostRoot& host, const char* file, std::span<char> buffer) {
  const auto text = read_file(host.sysfs(), fmt::format("{}/info/{}", kRoot, file).c_str(), buffer);
  return text ? trim(*text) : std::string_view();
}

// If counters of traffic are assigned one by one (AMD's ABMC), a group needs two of each cache: without them,
// the traffic of all would be unknown.
std::optional<std::size_t> most_with_counters(const HostRoot& host) {
  std::array<char, 4096> buffer;
  const std::string_view modes = read_info(host, "L3_MON/mbm_assign_mode", buffer);
  if (modes.find("[mbm_event]") == std::string_view::npos) return std::nullopt;
  std::optional<std::size_t> fewest;
  std::string_view caches = read_info(host, "L3_MON/num_mbm_cntrs", buffer);  // "0=32;1=32"
  while (!caches.empty()) {
    std::string_view count = take_until(caches, ';');
    take_until(count, '=');
    const auto number = parse_number<std::size_t>(count);
    if (number) fewest = std::min(fewest.value_or(*number), *number);
  }
  return fewest.value_or(0) / 2;
}

}  // namespace

std::optional<std::size_t> most_groups(const HostRoot& host) {
  std::optional<std::size_t> most = most_with_counters(host);
  for (const char* const file : {"L3_MON/num_rmids", "PERF_PKG_MON/num_rmids"}) {
    std::array<char, 32> buffer;
    const auto number = parse_number<std::size_t>(read_info(host, file, buffer));
    if (number) most = std::min(most.value_or(*number), *number);
  }
  return most;
}

}  // namespace keplerd::resctrl
