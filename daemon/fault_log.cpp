// SPDX-License-Identifier: Apache-2.0
#include "daemon/fault_log.h"

namespace keplerd {
namespace {

constexpr Nanoseconds kPeriod = std::chrono::minutes(1);

}  // namespace

std::optional<std::string> FaultLog::report(const std::string& zone, const std::string& fault,
                                            Nanoseconds now, const std::string& detail) {
  const auto [known, first] = reported_.try_emplace({zone, fault}, Reported{now, 0});
  if (first) return zone + ": " + fault + detail;
  ++known->second.again;
  return std::nullopt;
}

std::vector<std::string> FaultLog::summaries(Nanoseconds now) {
  std::vector<std::string> lines;
  for (auto at = reported_.begin(); at != reported_.end();) {
    const auto& [zone, fault] = at->first;
    Reported& reported = at->second;
    if (now - reported.at < kPeriod) {
      ++at;
    } else if (reported.again == 0) {
      at = reported_.erase(at);
    } else {
      lines.push_back(zone + ": " + fault + " (repeated: " + std::to_string(reported.again) + ")");
      reported = {now, 0};
      ++at;
    }
  }
  return lines;
}

}  // namespace keplerd
