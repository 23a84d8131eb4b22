// SPDX-License-Identifier: Apache-2.0
// Formats the checks, as text and as JSON.
#include <algorithm>

#include <fmt/format.h>

#include "cli/doctor/checks.h"
#include "cli/output/terminal.h"
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

std::string checks_text(const std::vector<Check>& checks, bool colour) {
  std::size_t width = 0;
  for (const Check& check : checks) width = std::max(width, check.name.size());
  std::string out;
  for (const Check& check : checks) {
    const Paint how = check.state == kOk        ? Paint::kGood
                      : check.state == kWarning ? Paint::kWarning
                                                : Paint::kBad;
    const std::string state = fmt::format("{:<7}", check.unused ? "-" : state_name(check.state));
    out += fmt::format("{}  {:<{}}  {}\n", paint(state, how, colour && !check.unused), check.name, width,
                       check.found);
    const std::string& next = check.fix.empty() ? check.hint : check.fix;
    const bool is_hint = check.state == kOk;
    if (!next.empty()) {
      out += fmt::format("{:<7}  {:<{}}  {}: {}\n", "", "", width, is_hint ? "Hint" : "Fix", next);
    }
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
  return count(problems, "problem") + ", " + count(warnings, "warning") + ".\n";
}

}  // namespace keplerd::cli
