// SPDX-License-Identifier: Apache-2.0
#include "daemon/discard_log.h"

namespace keplerd {
namespace {

constexpr Nanoseconds kPeriod = std::chrono::minutes(1);

}  // namespace

std::optional<std::string> DiscardLog::tell(const std::string& zone, StepVerdict verdict, Nanoseconds now) {
  const auto [known, first] = told_.try_emplace({zone, verdict}, Told{now, 0});
  Told& told = known->second;
  if (!first && now - told.at < kPeriod) {
    ++told.kept_back;
    return std::nullopt;
  }
  std::string line = zone + ": energy of one window is not counted: " + std::string(verdict_text(verdict));
  if (told.kept_back > 0)
    line += " (and " + std::to_string(told.kept_back) + " more since the last such line)";
  told = {now, 0};
  return line;
}

}  // namespace keplerd
