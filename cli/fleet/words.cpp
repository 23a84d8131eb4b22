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
  constexpr std::size_t kMost = 5;
  if (names.size() <= kMost) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + kMost, ", "),
                     names.size() - kMost);
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

}  // namespace keplerd::cli::fleet
