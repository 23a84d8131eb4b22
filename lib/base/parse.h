// SPDX-License-Identifier: Apache-2.0
// Strict parsing of the small texts that the kernel and administrators write.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace keplerd {

// The whole of `text` as a decimal number; no sign for unsigned types, no white space, no overflow.
template <std::integral Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Without white space (blank, tab, newline, carriage return) at both ends.
std::string_view trim(std::string_view text);

// Takes the part of `rest` up to `separator` (or all of it) off its front, the separator too.
std::string_view take_until(std::string_view& rest, char separator);

// Takes the next word (separated by blanks or tabs) off the front of `rest`; empty when there is none.
std::string_view take_word(std::string_view& rest);

// Equal without regard to the case of ASCII letters, whatever the locale.
bool equals_ignoring_case(std::string_view a, std::string_view b);

// Takes `prefix` off the front; false, and nothing taken, where it is not there.
inline bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// The same at the end.
inline bool take_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

// What stands between; empty where there is nothing, or one of them is not there.
inline std::string_view between(std::string_view prefix, std::string_view text, std::string_view suffix) {
  return take_prefix(text, prefix) && take_suffix(text, suffix) ? text : std::string_view();
}

}  // namespace keplerd
