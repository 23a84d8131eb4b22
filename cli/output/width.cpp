// SPDX-License-Identifier: Apache-2.0
#include "cli/output/width.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <fmt/format.h>

namespace keplerd::cli {
namespace {

struct Range {
  std::uint32_t first, last;
};

// Combining marks and joiners of the common scripts (Unicode general categories Mn, Me, Cf).
constexpr Range kZeroWidth[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},
                                {0x64b, 0x65f},   {0x6d6, 0x6dc},   {0x93a, 0x93a},   {0x941, 0x948},
                                {0x94d, 0x94d},   {0xe31, 0xe31},   {0xe34, 0xe3a},   {0xe47, 0xe4e},
                                {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200d}, {0x20d0, 0x20ff},
                                {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0100, 0xe01ef}};

// East Asian Width W and F (Unicode annex 11), and emoji.
constexpr Range kDoubleWidth[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},  {0x2e80, 0x303e},
    {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xa000, 0xa4cf},  {0xa960, 0xa97f},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},  {0xffe0, 0xffe6},
    {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd}};

template <std::size_t kSize>
bool contains(const Range (&ranges)[kSize], std::uint32_t c) {
  const auto after =
      std::upper_bound(std::begin(ranges), std::end(ranges), c,
                       [](std::uint32_t value, const Range& range) { return value < range.first; });
  return after != std::begin(ranges) && c <= std::prev(after)->last;
}

int character_width(std::uint32_t c) {
  if (contains(kZeroWidth, c)) return 0;
  return contains(kDoubleWidth, c) ? 2 : 1;
}

struct Character {
  std::string_view bytes;
  int width;
};

// A byte that is not part of UTF-8 counts as a character of its own.
std::vector<Character> characters_of(std::string_view text) {
  std::vector<Character> out;
  while (!text.empty()) {
    const auto lead = static_cast<unsigned char>(text[0]);
    std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    length = std::min(length, text.size());
    std::uint32_t code_point = length == 1 ? lead : lead & (0xffu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
      code_point = code_point << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
    }
    out.push_back({text.substr(0, length), character_width(code_point)});
    text.remove_prefix(length);
  }
  return out;
}

// Without "ESC [ ... m".
std::string without_colours(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto escape = text.find("\033[");
    out += text.substr(0, escape);
    if (escape == std::string_view::npos) break;
    const auto end = text.find('m', escape);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

constexpr std::string_view kEllipsis = "…";
constexpr std::string_view kAsciiEllipsis = "~";

}  // namespace

std::string ascii(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", byte);
    }
  }
  return out;
}

int display_width(std::string_view text) {
  int width = 0;
  for (const Character& character : characters_of(text)) width += character.width;
  return width;
}

std::string shorten(std::string_view text, int width, Keep keep) {
  if (display_width(text) <= width) return std::string(text);
  if (width < 1) return {};
  std::vector<Character> characters = characters_of(text);
  if (keep == Keep::kEnd) std::reverse(characters.begin(), characters.end());
  std::size_t kept = 0;
  for (int used = 1; kept < characters.size() && used + characters[kept].width <= width; ++kept) {
    used += characters[kept].width;
  }
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < kept; ++i) bytes += characters[i].bytes.size();
  if (keep == Keep::kEnd) return std::string(kEllipsis) + std::string(text.substr(text.size() - bytes));
  return std::string(text.substr(0, bytes)).append(kEllipsis);
}

std::string fit(std::string_view text, int width, Keep keep, bool unicode) {
  if (unicode) return shorten(text, width, keep);
  std::string out = shorten(ascii(text), width, keep);
  const auto ellipsis = out.find(kEllipsis);
  if (ellipsis != std::string::npos) out.replace(ellipsis, kEllipsis.size(), kAsciiEllipsis);
  return out;
}

std::string wrap_words(std::string_view text, std::optional<int> width) {
  if (!width) return std::string(text);
  std::string out;
  int used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    const int needed = display_width(without_colours(word));
    if (used > 0 && used + 1 + needed > *width) {
      out += '\n';
      used = 0;
    } else if (used > 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used += needed;
    if (end < text.size() && text[end] == '\n') {
      out += '\n';
      used = 0;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace keplerd::cli
