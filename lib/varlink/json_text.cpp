// SPDX-License-Identifier: Apache-2.0
#include "varlink/json_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "varlink/json.h"

namespace keplerd::varlink {

namespace {

// Printable ASCII but quotation marks and backslashes.
bool is_plain(char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; }

}  // namespace

void write_number(std::string& out, std::int64_t number) {
  std::array<char, std::numeric_limits<std::int64_t>::digits10 + 2> digits{};
  const auto written = std::to_chars(digits.begin(), digits.end(), number);
  out.append(digits.begin(), written.ptr);
}

void write_text(std::string& out, std::string_view text) {
  if (!std::ranges::all_of(text, is_plain)) return write_json(out, Json(text));
  out += '"';
  out += text;
  out += '"';
}

std::string to_text(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

void write_json(std::string& out, const Json& value) { out += to_text(value); }

void ObjectWriter::members_of(const Json& object) {
  for (const auto& [name, value] : object.items()) write_json(member(name), value);
}

}  // namespace keplerd::varlink
