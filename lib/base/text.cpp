// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

namespace keplerd {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

void append_escaped(std::string& out, unsigned char byte) {
  out += "\\x";
  out += kHexDigits[byte >> 4];
  out += kHexDigits[byte & 15];
}

std::optional<unsigned> hex_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  return std::nullopt;
}

// Whether a literal backslash in front of `after` would read as one of our escapes.
bool looks_like_escape(std::string_view after) {
  if (after.size() < 3 || after[0] != 'x') return false;
  const auto high = hex_value(after[1]);
  const auto low = hex_value(after[2]);
  if (!high || !low) return false;
  const unsigned byte = *high << 4 | *low;
  return byte < 0x20 || byte >= 0x7f || (byte == '\\' && after.size() > 3 && after[3] == 'x');
}

}  // namespace

std::optional<Character> first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return Character{lead, 1};
  const std::size_t length = lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length == 0 || lead > 0xf4 || text.size() < length) return std::nullopt;
  std::uint32_t code_point = lead & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return std::nullopt;
    code_point = code_point << 6 | (next & 0x3f);
  }
  const bool shortest =
      length == 2 || (length == 3 && code_point >= 0x800) || (length == 4 && code_point >= 0x10000);
  const bool surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
  if (!shortest || surrogate || code_point > 0x10ffff) return std::nullopt;
  return Character{code_point, length};
}

bool is_printable(std::uint32_t c) {
  if (c < 0x20 || (c >= 0x7f && c <= 0x9f)) return false;
  const bool separator = c == 0x2028 || c == 0x2029;
  const bool bidirectional = c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
                             (c >= 0x2066 && c <= 0x2069);
  return !separator && !bidirectional;
}

std::string escape_name(std::string_view name) {
  std::string out;
  out.reserve(name.size());
  while (!name.empty()) {
    const auto character = first_character(name);
    const std::size_t length = character ? character->length : 1;
    const bool keep = character && is_printable(character->code_point) &&
                      !(character->code_point == '\\' && looks_like_escape(name.substr(1)));
    if (keep) {
      out += name.substr(0, length);
    } else {
      for (const char byte : name.substr(0, length)) append_escaped(out, static_cast<unsigned char>(byte));
    }
    name.remove_prefix(length);
  }
  return out;
}

bool is_plain_name(std::string_view name) { return escape_name(name) == name; }

}  // namespace keplerd
