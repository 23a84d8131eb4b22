// SPDX-License-Identifier: Apache-2.0
#include "daemon/fault_log.h"

namespace keplerd {
namespace {

constexpr Nanoseconds kPeriod = std::chrono::minutes(1);

}  // namespace

std::optional<std::string> FaultLog::tell(const std::string& zone, const std::string& fault,
                                          Nanoseconds now) {
  const auto [known, first] = told_.try_emplace({zone, fault}, Told{now, 0});
  if (first) return zone + ": " + fault;
  ++known->second.again;
  return std::nullopt;
}

std::vector<std::string> FaultLog::summaries(Nanoseconds now) {
  std::vector<std::string> lines;
  for (auto at = told_.begin(); at != told_.end();) {
    const auto& [zone, fault] = at->first;
    Told& told = at->second;
    if (now - told.at < kPeriod) {
      ++at;
    } else if (told.again == 0) {
      at = told_.erase(at);
    } else {
      lines.push_back(zone + ": " + fault + " (" + std::to_string(told.again) + " times more)");
      told = {now, 0};
      ++at;
    }
  }
  return lines;
}

}  // namespace keplerd
