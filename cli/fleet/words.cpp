// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet/words.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/output/terminal.h"
#include "cli/screens.h"

namespace keplerd::cli::fleet {

std::string hosts_text(const std::vector<Reply>& replies) {
  const auto answered = std::ranges::count_if(replies, &Reply::answered);
  const std::string all = fmt::format("{} {}", replies.size(), replies.size() == 1 ? "host" : "hosts");
  return static_cast<std::size_t>(answered) == replies.size() ? all : fmt::format("{} of {}", answered, all);
}

std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t kMostNames = 5;
  if (names.size() <= kMostNames) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + kMostNames, ", "),
                     names.size() - kMostNames);
}

std::vector<std::string> source_notes(const std::vector<std::pair<std::string, varlink::Json>>& sources) {
  std::map<std::string, std::vector<std::string>> hosts_of;
  for (const auto& [host, status] : sources) {
    if (const auto warning = source_warning(status)) hosts_of[*warning].push_back(host);
  }
  std::vector<std::string> notes;
  for (const auto& [warning, hosts] : hosts_of) {
    const auto colon = warning.find(':');
    notes.push_back(warning.substr(0, colon) + " (" + names_text(hosts) + ")" + warning.substr(colon));
  }
  return notes;
}

std::string notes_text(const std::vector<std::string>& notes, bool colour) {
  std::string out;
  for (const std::string& note : notes) {
    const auto label = note.find(" (");
    out += paint(note.substr(0, label), Paint::kWarning, colour) + note.substr(label) + ".\n";
  }
  return out;
}

std::optional<Wall::Sums> wall_sums(const std::vector<Reply>& replies, const SumsOf& sums_of) {
  Wall::Sums all;  // each host's are bounded by Wall
  for (const Reply& reply : replies) {
    if (!reply.answered()) continue;
    const auto wall = Wall::of(reply.value);
    const auto sums = wall ? sums_of(*wall, reply) : std::nullopt;
    if (!sums) return std::nullopt;
    all.rows += sums->rows;
    all.other += sums->other;
    all.platform += sums->platform;
  }
  return all;
}

std::string wall_text(const std::vector<Reply>& replies, std::string_view what, const SumsOf& sums_of) {
  return Wall::text(wall_sums(replies, sums_of), what);
}

}  // namespace keplerd::cli::fleet
