// SPDX-License-Identifier: Apache-2.0
#include "usage/usage_file.h"

#include <optional>

#include <fmt/format.h>

#include "base/parse.h"
#include "usage/usage_lines.h"

namespace keplerd {
namespace {

constexpr std::int64_t kBusiest = std::int64_t{1} << 62;  // nanoseconds

struct Line {
  ProcessId process;
  Nanoseconds busy{0};
};

std::optional<Line> parse_line(std::string_view text) {
  std::string_view rest = text;
  const auto pid = parse_number<std::int32_t>(take_until(rest, ' '));
  const auto start = parse_number<std::uint64_t>(take_until(rest, ' '));
  const auto busy = parse_number<std::int64_t>(rest);
  if (!pid || *pid <= 0 || !start || !busy || *busy < 0 || *busy > kBusiest) return std::nullopt;
  return Line{{*pid, *start}, Nanoseconds{*busy}};
}

}  // namespace

Result<UsageReading> parse_usage_file(std::string_view text) {
  UsageReading reading;
  std::string_view rest = text;
  const std::string_view first = take_until(rest, '\n');
  if (auto reason = unknown_reason(first)) return *std::move(reason);
  const auto time = parse_boottime(first);
  if (!time) return bad_usage_line(1, first, "microseconds since the boot");
  reading.time = *time;
  for (std::size_t number = 2; !rest.empty(); ++number) {
    const std::string_view line = take_until(rest, '\n');
    const auto parsed = parse_line(line);
    if (!parsed) return bad_usage_line(number, line, "PID STARTTIME NANOSECONDS");
    if (reading.busy.size() == kMostUsers)
      return Error{.message = fmt::format("it names more than {} processes", kMostUsers)};
    if (!reading.busy.emplace(parsed->process, parsed->busy).second)
      return bad_usage_line(number, line, "each process once");
  }
  return reading;
}

}  // namespace keplerd
