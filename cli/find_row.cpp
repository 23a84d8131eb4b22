// SPDX-License-Identifier: Apache-2.0
#include "cli/find_row.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>

#include "base/parse.h"
#include "cli/fields.h"

namespace keplerd::cli {
namespace {

bool same_but_for_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string text_of(const Json& row, std::string_view name) { return string_field(row, name).value_or(""); }

}  // namespace

std::vector<Json> find_rows(const std::vector<Json>& rows, std::string_view wanted, bool guess) {
  if (wanted.empty()) return {};
  const auto pid = parse_number<std::int64_t>(wanted);
  const std::array<std::function<bool(const Json&)>, 3> rules = {
      [&](const Json& row) {
        return pid && text_of(row, "kind") == "process" && integer_field(row, "pid") == pid;
      },
      [&](const Json& row) { return same_but_for_case(text_of(row, "name"), wanted); },
      [&](const Json& row) { return text_of(row, "id").starts_with(wanted); }};
  for (const auto& rule : rules) {
    std::vector<Json> found, running;
    std::ranges::copy_if(rows, std::back_inserter(found), rule);
    std::ranges::copy_if(found, std::back_inserter(running),
                         [](const Json& row) { return text_of(row, "state") == "running"; });
    if (running.size() == 1) return running;
    if (!found.empty() || !guess) return found;
  }
  return {};
}

}  // namespace keplerd::cli
