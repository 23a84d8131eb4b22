// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <cstddef>
#include <cstdint>
#include <optional>

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

// Length of the valid UTF-8 sequence at the front of `text` (RFC 3629: shortest form, no surrogates, at most
// U+10FFFF), 0 where there is none; `code_point` is what it stands for.
std::size_t sequence_length(std::string_view text, std::uint32_t& code_point) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) {
    code_point = lead;
    return 1;
  }
  const std::size_t length = lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length == 0 || lead > 0xf4 || text.size() < length) return 0;
  code_point = lead & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return 0;
    code_point = code_point << 6 | (next & 0x3f);
  }
  const bool shortest =
      length == 2 || (length == 3 && code_point >= 0x800) || (length == 4 && code_point >= 0x10000);
  const bool surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
  return shortest && !surrogate && code_point <= 0x10ffff ? length : 0;
}

bool is_printable(std::uint32_t c) {
  if (c < 0x20 || (c >= 0x7f && c <= 0x9f)) return false;
  const bool separator = c == 0x2028 || c == 0x2029;
  const bool bidirectional = c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
                             (c >= 0x2066 && c <= 0x2069);
  return !separator && !bidirectional;
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

std::string escape_name(std::string_view name) {
  std::string out;
  out.reserve(name.size());
  while (!name.empty()) {
    std::uint32_t code_point = 0;
    const std::size_t length = sequence_length(name, code_point);
    if (length == 0) {
      append_escaped(out, static_cast<unsigned char>(name[0]));
      name.remove_prefix(1);
      continue;
    }
    const bool keep = is_printable(code_point) && !(code_point == '\\' && looks_like_escape(name.substr(1)));
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
