// SPDX-License-Identifier: Apache-2.0
// Strict parsing of the small texts that the kernel and administrators write.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace keplerd {

// Parses the whole of `text` as a decimal number; no sign for unsigned types, no white space, no overflow.
template <std::integral Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// `text` without leading and trailing white space (blank, tab, newline, carriage return).
std::string_view trim(std::string_view text);

// Removes the part of `rest` up to `separator` (or all of it) from its front, with the separator.
std::string_view take_until(std::string_view& rest, char separator);

// Removes the next word (separated by blanks or tabs) from the front of `rest`; empty if there is none.
std::string_view take_word(std::string_view& rest);

// Compares ignoring the case of ASCII letters, whatever the locale.
bool equals_ignoring_case(std::string_view a, std::string_view b);

// Removes `prefix` from the front; returns false, and removes nothing, if it is not there.
inline bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// The same for a suffix.
inline bool take_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

// The text between the two; empty if there is none, or if either is missing.
inline std::string_view between(std::string_view prefix, std::string_view text, std::string_view suffix) {
  return take_prefix(text, prefix) && take_suffix(text, suffix) ? text : std::string_view();
}

}  // namespace keplerd
