// SPDX-License-Identifier: Apache-2.0
#include "usage/count_file.h"

#include <fmt/format.h>

#include "base/parse.h"
#include "usage/usage_lines.h"

namespace keplerd {
namespace {

constexpr int kMostDies = 1024;

constexpr std::string_view prefix_of(CountKind kind) {
  switch (kind) {
    case CountKind::kMemoryTraffic:
      return "memory-";
    case CountKind::kCoreEnergy:
      return "cores-";
    case CountKind::kCycles:
      return "cycles-";
    case CountKind::kInstructions:
      return "instructions-";
    case CountKind::kCacheMisses:
      return "misses-";
  }
  return {};
}

std::optional<Count> parse_count(std::string_view text) {
  const auto count = parse_number<std::int64_t>(text);
  if (!count || *count < 0 || *count > kMostCount) return std::nullopt;
  return Count{*count};
}

bool parse_first(std::string_view line, CountReading& reading) {
  const auto time = parse_boottime(take_until(line, ' '));
  const auto since = parse_boottime(take_until(line, ' '));
  const auto all = parse_count(line);
  if (!time || !since || !all || *since > *time) return false;
  reading.time = *time;
  reading.since = *since;
  reading.all = *all;
  return true;
}

}  // namespace

std::string count_file_name(const CountSource& source) {
  return fmt::format("{}{}", prefix_of(source.kind), source.die);
}

std::optional<CountSource> parse_count_file_name(std::string_view name) {
  for (const CountKind kind : kCountKinds) {
    std::string_view number = name;
    const auto die = take_prefix(number, prefix_of(kind)) ? parse_number<int>(number) : std::nullopt;
    if (!die || *die < 0 || *die >= kMostDies) continue;
    const CountSource source{.kind = kind, .die = *die};
    if (count_file_name(source) == name) return source;
  }
  return std::nullopt;
}

Result<CountReading> parse_count_file(std::string_view text) {
  CountReading reading;
  std::string_view rest = text;
  const std::string_view first = take_until(rest, '\n');
  if (auto reason = unknown_reason(first)) return *std::move(reason);
  if (!parse_first(first, reading)) return bad_usage_line(1, first, "BOOTTIME SINCE ALL");
  for (std::size_t number = 2; !rest.empty(); ++number) {
    const std::string_view line = take_until(rest, '\n');
    std::string_view words = line;
    const auto group = parse_number<std::uint64_t>(take_until(words, ' '));
    const auto count = parse_count(take_until(words, ' '));
    const auto since = parse_boottime(words);
    if (!group || *group == 0 || !count || !since || *since > reading.time)
      return bad_usage_line(number, line, "CGROUP COUNT SINCE");
    if (reading.groups.size() == kMostMeasuredGroups)
      return Error{.message = fmt::format("it names more than {} cgroups", kMostMeasuredGroups)};
    if (!reading.groups.emplace(*group, GroupCount{*count, *since}).second)
      return bad_usage_line(number, line, "each cgroup once");
  }
  return reading;
}

std::string count_text(const CountReading& reading) {
  std::string text =
      fmt::format("{} {} {}\n", to_usec(reading.time), to_usec(reading.since), reading.all.value);
  for (const auto& [group, counted] : reading.groups)
    text += fmt::format("{} {} {}\n", group, counted.count.value, to_usec(counted.since));
  return text;
}

}  // namespace keplerd
