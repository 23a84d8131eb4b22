// SPDX-License-Identifier: Apache-2.0
#include "workloads/identifier.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/text.h"

namespace keplerd {
namespace {

constexpr std::size_t kLongestName = 255;  // bytes, before escaping

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return std::nullopt;
}

// The byte encoded by `\xHH` at the front of `text`.
std::optional<unsigned> escaped_byte(std::string_view text) {
  if (!text.starts_with("\\x") || text.size() < 4) return std::nullopt;
  const auto high = hex_digit(text[2]);
  const auto low = hex_digit(text[3]);
  if (!high || !low) return std::nullopt;
  return *high << 4 | *low;
}

// `text` with every `\xHH` that `is_ours(byte, what follows)` accepts replaced by its byte.
template <class Predicate>
std::string replace_escapes(std::string_view text, Predicate is_ours) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto byte = escaped_byte(text);
    const bool decode = byte && is_ours(*byte, text.substr(4));
    out += decode ? static_cast<char>(*byte) : text[0];
    text.remove_prefix(decode ? 4 : 1);
  }
  return out;
}

// The inverse of escape_name: only what it escapes is decoded.
std::string unescape_name(std::string_view name) {
  return replace_escapes(name, [](unsigned byte, std::string_view after) {
    return byte < 0x20 || byte >= 0x7f || (byte == '\\' && after.starts_with('x'));
  });
}

}  // namespace

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_hexadecimal(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_runtime_id(std::string_view text) { return text.size() == 64 && is_hexadecimal(text); }

std::string short_runtime_id(const std::string& id) { return is_runtime_id(id) ? id.substr(0, 12) : id; }

std::string_view last_part(std::string_view id) { return id.substr(id.rfind('/') + 1); }

std::string canonical_uuid(std::string_view text) {
  if (text.size() != 36) return {};
  std::string uuid;
  bool nil = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !hex_digit(text[i])) return {};
    nil = nil && (dash || text[i] == '0');
    uuid += text[i] >= 'A' && text[i] <= 'F' ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
  }
  return nil ? std::string() : uuid;
}

std::string decode_unit_escapes(std::string_view name) {
  // systemd escapes no NUL (unit_name_unescape refuses it).
  return escape_name(
      replace_escapes(unescape_name(name), [](unsigned byte, std::string_view) { return byte != 0; }));
}

std::string limited_name(std::string_view raw) {
  if (raw.size() > kLongestName) {
    std::size_t end = kLongestName;
    while (end > kLongestName - 3 && is_continuation(raw[end])) --end;  // not inside a character
    raw = raw.substr(0, end);
  }
  return escape_name(raw);
}

}  // namespace keplerd
