// SPDX-License-Identifier: Apache-2.0
#include "cost/intensities.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/parse.h"
#include "base/text.h"
#include "cost/number.h"

namespace keplerd {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// Where to find what is needed, and the unit of the intensity.
struct Columns {
  std::size_t time = 0, intensity = 0;
  bool is_pounds = false;  // per MWh, else grams per kWh
};

// Removes the first field; quotes around it are removed, those inside it are doubled.
std::string take_field(std::string_view& line) {
  if (!line.starts_with('"')) return std::string(trim(take_until(line, ',')));
  std::string field;
  std::size_t at = 1;
  for (; at < line.size(); ++at) {
    if (line[at] == '"' && (++at == line.size() || line[at] != '"')) break;
    field += line[at];
  }
  line.remove_prefix(std::min(at, line.size()));
  take_until(line, ',');
  return field;
}

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  while (!line.empty()) fields.push_back(take_field(line));
  return fields;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::optional<Columns> columns_of(const std::vector<std::string>& header) {
  std::optional<std::size_t> time, life_cycle, direct, pounds;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string name = lower(header[i]);
    const bool is_grams = name.starts_with("carbon intensity");
    if (name == "datetime (utc)" || name == "datetime" || name == "timestamp" || name == "point_time") {
      time = i;
    } else if (is_grams && (name.ends_with("(life cycle)") || name.ends_with("(lca)"))) {
      life_cycle = i;
    } else if (is_grams) {
      direct = i;
    } else if (name == "moer" || name == "value") {
      pounds = i;
    }
  }
  const auto grams = life_cycle ? life_cycle : direct;
  if (!time || (!grams && !pounds)) return std::nullopt;
  return Columns{*time, grams ? *grams : *pounds, !grams};
}

// Removes a number of so many digits from the front.
std::optional<int> take_digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  const auto number = parse_number<unsigned>(text.substr(0, count));
  text.remove_prefix(count);
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

// "+01:00", "Z" or nothing: UTC.
std::optional<seconds> parse_offset(std::string_view text) {
  if (text.empty() || text == "Z") return seconds(0);
  const int sign = text.front() == '-' ? -1 : 1;
  if (!take_prefix(text, "+") && !take_prefix(text, "-")) return std::nullopt;
  const auto hour = take_digits(text, 2);
  take_prefix(text, ":");
  const auto minute = take_digits(text, 2);
  if (!hour || !minute || *hour > 23 || *minute > 59 || !text.empty()) return std::nullopt;
  return sign * (hours(*hour) + minutes(*minute));
}

// "2026-11-24 12:00", with "T", seconds, a fraction of them, and an offset.
std::optional<std::chrono::sys_seconds> parse_time(std::string_view text) {
  const auto year = take_digits(text, 4);
  const bool has_month = take_prefix(text, "-");
  const auto month = take_digits(text, 2);
  const bool has_day = take_prefix(text, "-");
  const auto day = take_digits(text, 2);
  if (!year || !has_month || !month || !has_day || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!take_prefix(text, " ") && !take_prefix(text, "T")) return std::nullopt;
  const auto hour = take_digits(text, 2);
  const bool has_minute = take_prefix(text, ":");
  const auto minute = take_digits(text, 2);
  const auto second = take_prefix(text, ":") ? take_digits(text, 2) : std::optional(0);
  if (!date.ok() || !hour || !has_minute || !minute || !second || *hour > 23 || *minute > 59 || *second > 59)
    return std::nullopt;
  if (take_prefix(text, ".")) text.remove_prefix(std::min(text.find_first_not_of("0123456789"), text.size()));
  const auto offset = parse_offset(text);
  if (!offset) return std::nullopt;
  return std::chrono::sys_days(date) + hours(*hour) + minutes(*minute) + seconds(*second) - *offset;
}

std::optional<Micrograms> parse_intensity(std::string_view text, bool is_pounds) {
  constexpr std::size_t kFurtherDecimals = 20;  // files have printed floating-point numbers
  constexpr std::int64_t kPound = 45'359'237;   // 100 million pounds per MWh, in grams per kWh
  constexpr std::int64_t kPounds = 100'000'000;
  const auto millionths = parse_millionths(text, kFurtherDecimals);
  if (!millionths) return std::nullopt;
  if (!is_pounds) return Micrograms{*millionths};
  return Micrograms{
      static_cast<std::int64_t>((static_cast<__int128>(*millionths) * kPound + kPounds / 2) / kPounds)};
}

// Sorted by time; of those with one time the last.
std::vector<Intensity> in_order(std::vector<Intensity> list) {
  std::ranges::stable_sort(list, {}, &Intensity::start);
  const auto kept = std::unique(list.rbegin(), list.rend(),
                                [](const Intensity& a, const Intensity& b) { return a.start == b.start; });
  list.erase(list.begin(), kept.base());
  return list;
}

}  // namespace

Result<std::vector<Intensity>> parse_intensities(std::string_view csv) {
  take_prefix(csv, "\xef\xbb\xbf");
  const std::string_view header = trim(take_until(csv, '\n'));
  const auto columns = columns_of(fields_of(header));
  if (!columns) return Error{"1: no columns of a time and of an intensity (see keplerd-cost.conf(5))"};
  std::vector<Intensity> found;
  for (int number = 2; !csv.empty(); ++number) {
    const std::string_view line = trim(take_until(csv, '\n'));
    if (line.empty() || line == header) continue;
    const auto fields = fields_of(line);
    if (fields.size() <= std::max(columns->time, columns->intensity))
      return Error{fmt::format("{}: fewer columns than the first line", number)};
    const std::string& value = fields[columns->intensity];
    if (value.empty()) continue;
    const auto time = parse_time(fields[columns->time]);
    if (!time) return Error{fmt::format("{}: no time: '{}'", number, escape_name(fields[columns->time]))};
    const auto intensity = parse_intensity(value, columns->is_pounds);
    if (!intensity) return Error{fmt::format("{}: no intensity: '{}'", number, escape_name(value))};
    found.push_back({*time, *intensity});
  }
  return in_order(std::move(found));
}

}  // namespace keplerd
