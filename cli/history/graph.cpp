// SPDX-License-Identifier: Apache-2.0
#include "cli/history/graph.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include <fmt/format.h>

#include "cli/fields.h"
#include "cli/history/period.h"
#include "cli/output/human.h"
#include "cli/top/graph.h"
#include "varlink/json.h"

namespace keplerd::cli::history {
namespace {

constexpr int kHeight = 8;
constexpr std::size_t kWidest = 4;  // columns of a span

std::int64_t sum_of(const std::vector<Json>& spans, std::size_t from, std::size_t to, std::string_view name) {
  std::int64_t sum = 0;
  for (std::size_t i = from; i < std::min(to, spans.size()); ++i)
    sum += integer_field(spans[i], name).value_or(0);
  return sum;
}

std::optional<std::int64_t> power_of(const std::vector<Json>& spans, std::size_t from, std::size_t to) {
  const Time recorded(sum_of(spans, from, to, "recordedUsec"));
  if (recorded < kShortestPowerSpan) return std::nullopt;
  return mean_power({sum_of(spans, from, to, "energyMicrojoules")}, recorded).value;
}

}  // namespace

std::string power_graph(const std::vector<Json>& spans, const TableStyle& style) {
  constexpr int kLabels = 10;
  const auto room = static_cast<std::size_t>(std::clamp(style.width.value_or(80) - kLabels, 20, 240));
  const std::size_t combined = (spans.size() + room - 1) / room;
  const std::size_t count = (spans.size() + combined - 1) / combined;
  const std::size_t width = std::min(kWidest, room / count);
  top::History powers;
  for (std::size_t i = 0; i < count; ++i) {
    const auto power = power_of(spans, i * combined, (i + 1) * combined);
    for (std::size_t column = 0; column < width; ++column) powers.add(power);
  }
  const std::int64_t most = powers.most(powers.size());
  const auto lines = top::graph(powers, {static_cast<int>(powers.size()), kHeight}, most, style.unicode);
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string label = i == 0 ? format_power({most}) : i + 1 == lines.size() ? "0 W" : "";
    std::string line = fmt::format("{:>8} {}{}", label, style.unicode ? "\u2502" : "|", lines[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  const std::string start = format_minute(Time(integer_field(spans.front(), "fromUsec").value_or(0)));
  const std::string end = format_minute(Time(integer_field(spans.back(), "toUsec").value_or(0)));
  const std::size_t gap = std::max(powers.size(), start.size() + end.size() + 1) - start.size() - end.size();
  return out + std::string(kLabels, ' ') + start + std::string(gap, ' ') + end + "\n";
}

}  // namespace keplerd::cli::history
