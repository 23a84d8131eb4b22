// SPDX-License-Identifier: Apache-2.0
#include "base/parse.h"

#include <algorithm>

namespace keplerd {
namespace {

// Compared one by one: a search in a string would cost a call of memchr per byte.
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_space(char c) { return is_blank(c) || c == '\r' || c == '\n'; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view take_until(std::string_view& rest, char separator) {
  const auto end = rest.find(separator);
  const auto part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return part;
}

std::string_view take_word(std::string_view& rest) {
  const auto begin = std::ranges::find_if_not(rest, is_blank);
  const auto end = std::find_if(begin, rest.end(), is_blank);
  const std::string_view word(begin, end);
  rest = {end, rest.end()};
  return word;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace keplerd
