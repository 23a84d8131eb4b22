// SPDX-License-Identifier: Apache-2.0
#include "usage/traffic_file.h"

#include <fmt/format.h>

#include "base/parse.h"
#include "usage/usage_lines.h"

namespace keplerd {
namespace {

constexpr std::string_view kPrefix = "memory-";
constexpr int kMostDies = 1024;

std::optional<Bytes> parse_bytes(std::string_view text) {
  const auto bytes = parse_number<std::int64_t>(text);
  if (!bytes || *bytes < 0 || *bytes > kMostBytes) return std::nullopt;
  return Bytes{*bytes};
}

bool parse_first(std::string_view line, TrafficReading& reading) {
  const auto time = parse_boottime(take_until(line, ' '));
  const auto since = parse_boottime(take_until(line, ' '));
  const auto all = parse_bytes(line);
  if (!time || !since || !all || *since > *time) return false;
  reading.time = *time;
  reading.since = *since;
  reading.all = *all;
  return true;
}

}  // namespace

std::string traffic_file_name(int die) { return fmt::format("{}{}", kPrefix, die); }

std::optional<int> parse_traffic_file_name(std::string_view name) {
  std::string_view number = name;
  if (!take_prefix(number, kPrefix)) return std::nullopt;
  const auto die = parse_number<int>(number);
  if (!die || *die < 0 || *die >= kMostDies || traffic_file_name(*die) != name) return std::nullopt;
  return die;
}

Result<TrafficReading> parse_traffic_file(std::string_view text) {
  TrafficReading reading;
  std::string_view rest = text;
  const std::string_view first = take_until(rest, '\n');
  if (auto reason = unknown_reason(first)) return *std::move(reason);
  if (!parse_first(first, reading)) return bad_usage_line(1, first, "BOOTTIME SINCE BYTES");
  for (std::size_t number = 2; !rest.empty(); ++number) {
    const std::string_view line = take_until(rest, '\n');
    std::string_view words = line;
    const auto group = parse_number<std::uint64_t>(take_until(words, ' '));
    const auto bytes = parse_bytes(take_until(words, ' '));
    const auto since = parse_boottime(words);
    if (!group || *group == 0 || !bytes || !since || *since > reading.time)
      return bad_usage_line(number, line, "CGROUP BYTES SINCE");
    if (reading.groups.size() == kMostMeasuredGroups)
      return Error{.message = fmt::format("it names more than {} cgroups", kMostMeasuredGroups)};
    if (!reading.groups.emplace(*group, GroupTraffic{*bytes, *since}).second)
      return bad_usage_line(number, line, "each cgroup once");
  }
  return reading;
}

std::string traffic_text(const TrafficReading& reading) {
  std::string text =
      fmt::format("{} {} {}\n", to_usec(reading.time), to_usec(reading.since), reading.all.value);
  for (const auto& [group, traffic] : reading.groups)
    text += fmt::format("{} {} {}\n", group, traffic.bytes.value, to_usec(traffic.since));
  return text;
}

}  // namespace keplerd
