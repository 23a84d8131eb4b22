// SPDX-License-Identifier: Apache-2.0
// The inverse of escape_name(), which proves that it is injective: no two names have the same escaped form.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace keplerd {

// The value of the lower-case hexadecimal digit, or -1.
inline int digit_value(char c) {
  const auto at = std::string_view("0123456789abcdef").find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

// An escape is \xHH of a byte that escape_name() would escape: not printable ASCII, except for a backslash in
// front of an "x". Any other backslash is literal.
inline std::string unescape_name(std::string_view escaped) {
  std::string name;
  while (!escaped.empty()) {
    const bool shaped = escaped.size() >= 4 && escaped.starts_with("\\x") && digit_value(escaped[2]) >= 0 &&
                        digit_value(escaped[3]) >= 0;
    const int byte = shaped ? digit_value(escaped[2]) * 16 + digit_value(escaped[3]) : 0;
    const bool printable = byte >= 0x20 && byte < 0x7f;
    const bool backslash = byte == '\\' && escaped.substr(4).starts_with('x');
    const bool is_escape = shaped && (!printable || backslash);
    name += is_escape ? static_cast<char>(byte) : escaped[0];
    escaped.remove_prefix(is_escape ? 4 : 1);
  }
  return name;
}

}  // namespace keplerd
