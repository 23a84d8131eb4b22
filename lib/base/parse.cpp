// SPDX-License-Identifier: Apache-2.0
#include "base/parse.h"

#include <algorithm>

namespace keplerd {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kBlank = " \t";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string_view take_until(std::string_view& rest, char separator) {
  const auto end = rest.find(separator);
  const auto part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return part;
}

std::string_view take_word(std::string_view& rest) {
  const auto begin = std::min(rest.find_first_not_of(kBlank), rest.size());
  const auto end = std::min(rest.find_first_of(kBlank, begin), rest.size());
  const auto word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace keplerd
