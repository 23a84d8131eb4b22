// SPDX-License-Identifier: Apache-2.0
// What files with a table of their keys have in common. `Rows`: each has a `section` and a `key`; those of a
// section are together.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/result.h"
#include "base/text.h"

namespace keplerd {

// An error's message lists the sections.
template <class Rows>
Result<Done> check_section_of(const Rows& rows, std::string_view section) {
  std::string accepted;
  std::string_view previous;
  for (const auto& row : rows) {
    if (row.section == section) return Done{};
    if (row.section != previous) accepted += fmt::format("{}[{}]", accepted.empty() ? "" : ", ", row.section);
    previous = row.section;
  }
  return Error{fmt::format("unknown section [{}]; accepted: {}", escape_name(section), accepted)};
}

// The row of a key; std::end(rows) if there is none.
template <class Rows>
auto find_key(const Rows& rows, std::string_view section, std::string_view key) {
  return std::find_if(std::begin(rows), std::end(rows),
                      [&](const auto& row) { return row.section == section && row.key == key; });
}

template <class Rows>
Error unknown_key_of(const Rows& rows, std::string_view section, std::string_view key) {
  if (section.empty()) return {fmt::format("{}= is set before the first [Section]", escape_name(key))};
  std::string accepted;
  for (const auto& row : rows) {
    if (row.section == section) accepted += fmt::format("{}{}=", accepted.empty() ? "" : ", ", row.key);
  }
  return {fmt::format("unknown key {}= in section [{}]; accepted: {}", escape_name(key), section, accepted)};
}

}  // namespace keplerd
