// SPDX-License-Identifier: Apache-2.0
#include "history/budget/waiting.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/parse.h"
#include "base/read_all.h"
#include "base/replace_file.h"
#include "base/unique_fd.h"
#include "history/budget/unit_name.h"

namespace keplerd::history {
namespace {

constexpr std::size_t kLargestFile = 1 << 20;

}  // namespace

std::string crossing_line(const Crossing& crossing) {
  const auto& [use, percent] = crossing;
  return fmt::format("{} {} {} {} {}\n", percent, use.used.value, use.period.start.count(),
                     use.period.end.count(), use.budget.text);
}

std::optional<Crossing> parse_crossing(std::string_view line) {
  std::array<std::int64_t, 4> numbers{};
  for (auto& number : numbers) {
    const std::size_t end = line.find(' ');
    if (end == line.npos) return std::nullopt;
    const auto parsed = parse_number<std::int64_t>(line.substr(0, end));
    if (!parsed || *parsed < 0) return std::nullopt;
    number = *parsed;
    line.remove_prefix(end + 1);
  }
  const auto [percent, used, start, end] = numbers;
  if (percent < 1 || percent > 100 || line.empty()) return std::nullopt;
  Crossing crossing;
  crossing.percent = static_cast<int>(percent);
  crossing.use.used = {used};
  crossing.use.period = {Time(start), Time(end)};
  crossing.use.budget.text = line;
  return crossing;
}

Result<Done> WaitingCrossings::load(const std::vector<Budget>& configured) {
  const UniqueFd fd(::open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) {
    if (errno == ENOENT) return Done{};
    return system_error(file_, errno);
  }
  const auto text = read_all(fd.get(), kLargestFile, file_);
  if (!text) return text.error();
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    auto crossing = parse_crossing(rest.substr(0, end));
    if (!crossing) return Error{.message = file_ + ": a line is damaged", .code = EINVAL};
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto budget = std::ranges::find(configured, crossing->use.budget.text, &Budget::text);
    if (budget == configured.end()) continue;
    crossing->use.budget = *budget;
    add(*std::move(crossing));
  }
  return Done{};
}

std::optional<Crossing> WaitingCrossings::add(Crossing crossing) {
  auto& crossings = waiting_[budget_service(crossing.use.budget)];
  crossings.push_back(std::move(crossing));
  if (crossings.size() <= kMostOfOne) return std::nullopt;
  Crossing oldest = std::move(crossings.front());
  crossings.pop_front();
  return oldest;
}

std::optional<Crossing> WaitingCrossings::take(const std::string& service) {
  const auto found = waiting_.find(service);
  if (found == waiting_.end()) return std::nullopt;
  Crossing oldest = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty()) waiting_.erase(found);
  return oldest;
}

std::vector<std::string> WaitingCrossings::services() const {
  std::vector<std::string> services;
  for (const auto& [service, crossings] : waiting_) services.push_back(service);
  return services;
}

Result<Done> WaitingCrossings::save() const {
  if (waiting_.empty()) {
    if (::unlink(file_.c_str()) != 0 && errno != ENOENT) return system_error(file_, errno);
    return Done{};
  }
  std::string text;
  for (const auto& [service, crossings] : waiting_)
    for (const Crossing& crossing : crossings) text += crossing_line(crossing);
  const auto written = replace_file(file_, text, O_WRONLY, Sync::kBefore);
  if (!written) return written.error();
  return Done{};
}

}  // namespace keplerd::history
