// SPDX-License-Identifier: Apache-2.0
// Formats the checks, as text and as JSON.
#include <algorithm>

#include <fmt/format.h>

#include "cli/doctor/checks.h"
#include "cli/output/terminal.h"
#include "cli/output/width.h"
#include "varlink/json.h"

namespace keplerd::cli {

using enum CheckState;
using varlink::Json;

std::string_view state_name(CheckState state) {
  switch (state) {
    case kOk:
      return "ok";
    case kWarning:
      return "warning";
    case kProblem:
      return "problem";
  }
  return "";
}

Json checks_json(const std::vector<Check>& checks) {
  Json list = Json::array();
  for (const Check& check : checks) {
    Json entry = Json::object();
    entry["name"] = check.name;
    entry["state"] = state_name(check.state);
    entry["found"] = check.found;
    entry["fix"] = check.fix.empty() ? Json() : Json(check.fix);
    list.push_back(std::move(entry));
  }
  Json object = Json::object();
  object["checks"] = std::move(list);
  return object;
}

std::string checks_text(const std::vector<Check>& checks, bool colour, std::optional<int> width) {
  constexpr std::size_t kState = 7, kGap = 2;
  constexpr int kLeastRoom = 40;
  std::size_t names = 0;
  for (const Check& check : checks) names = std::max(names, check.name.size());
  // What was found stands to the right of the names, or, where that leaves little room, below them.
  const auto column_after = [&](std::size_t name) { return static_cast<int>(kState + kGap + name); };
  const bool below = width && *width - column_after(names + kGap) < kLeastRoom;
  const int indent = below ? column_after(0) : column_after(names + kGap);
  const auto indented = [&](const std::string& text) {
    const auto room = width ? std::optional(std::max(*width - indent, 1)) : std::nullopt;
    std::string out;
    for (const char c : wrap_words(text, room)) {
      out += c;
      if (c == '\n') out.append(static_cast<std::size_t>(indent), ' ');
    }
    return out;
  };
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string out;
  for (const Check& check : checks) {
    const Paint how = check.state == kOk        ? Paint::kGood
                      : check.state == kWarning ? Paint::kWarning
                                                : Paint::kBad;
    const std::string state = fmt::format("{:<{}}", check.unused ? "-" : state_name(check.state), kState);
    out += paint(state, how, colour && !check.unused) + "  ";
    out += below ? check.name + "\n" + margin : fmt::format("{:<{}}", check.name, names + kGap);
    out += indented(check.brief.empty() ? check.found : check.brief) + "\n";
    const std::string& next = check.fix.empty() ? check.hint : check.fix;
    const bool is_hint = check.state == kOk;
    if (!next.empty()) out += margin + indented((is_hint ? "Hint: " : "Fix: ") + next) + "\n";
  }
  return out;
}

std::string verdict_text(const std::vector<Check>& checks) {
  const auto problems = std::ranges::count(checks, kProblem, &Check::state);
  const auto warnings = std::ranges::count(checks, kWarning, &Check::state);
  const auto count = [](std::ptrdiff_t number, const char* what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
  };
  if (problems + warnings == 0) return "Nothing is wrong.\n";
  const auto meters = std::ranges::count_if(
      checks, [](const Check& check) { return check.state == kProblem && check.name.starts_with("meter "); });
  return count(problems, "problem") + ", " + count(warnings, "warning") + ".\n" +
         (meters > 1 ? "One meter that works is enough.\n" : "");
}

}  // namespace keplerd::cli
