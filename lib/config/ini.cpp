// SPDX-License-Identifier: Apache-2.0
// inih does the parsing. What it would pass over in silence is refused by the reader that feeds it: it gives
// its handler no line number, cuts lines at 200 bytes, takes an indented line for more of the value above,
// and ignores a section without keys and text after a section's bracket.
#include "config/ini.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <ini.h>

#include "base/parse.h"
#include "base/text.h"

namespace keplerd {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::size_t kLongestLine = 197;  // ini.h: INI_MAX_LINE is "3 more than the longest line"

struct Feed {
  std::string_view rest;
  const IniHandler& handler;
  int line = 0;       // the one that inih has in hand, from 1
  std::string wrong;  // with that line; empty: nothing so far

  bool refuse(std::string what) {
    wrong = std::move(what);
    return false;
  }
};

bool check_section_line(Feed& feed, std::string_view line) {
  const auto end = line.find(']');
  if (end == std::string_view::npos) return feed.refuse("invalid section (expected [Name])");
  if (end + 1 != line.size()) return feed.refuse("unexpected text after ] of a section");
  const auto known = feed.handler.section(line.substr(1, end - 1));
  return known || feed.refuse(known.error().message);
}

// Whether inih will see all of the line, and in the same way as a human.
bool check_line(Feed& feed, std::string_view line) {
  if (line.size() > kLongestLine)
    return feed.refuse(fmt::format("line is longer than {} bytes", kLongestLine));
  const auto control = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  };
  if (std::any_of(line.begin(), line.end(), control)) return feed.refuse("control character");
  if (line.back() == '\\') return feed.refuse("a line cannot be continued on the next with \\");
  return line.front() != '[' || check_section_line(feed, line);
}

// An ini_reader: like fgets().
char* read_line(char* buffer, int size, void* stream) {
  Feed& feed = *static_cast<Feed*>(stream);
  if (!feed.wrong.empty() || feed.rest.empty()) return nullptr;
  ++feed.line;
  auto line = trim(take_until(feed.rest, '\n'));
  if (line.empty() || line.front() == '#' || line.front() == ';') {
    line = {};
  } else if (!check_line(feed, line)) {
    return nullptr;
  }
  const auto length = std::min(line.size(), static_cast<std::size_t>(size) - 1);
  line.copy(buffer, length);
  buffer[length] = '\0';
  return buffer;
}

int handle_key(void* user, const char* section, const char* key, const char* value) {
  Feed& feed = *static_cast<Feed*>(user);
  const auto done = feed.handler.key(section, key, value, feed.line);
  return done || feed.refuse(done.error().message);
}

}  // namespace

Result<Done> parse_ini(std::string_view text, std::string_view file, const IniHandler& handler) {
  const auto wrong_at = [&](auto line, std::string_view what) {
    return Error{fmt::format("{}:{}: {}", escape_name(file), line, what)};
  };
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    return wrong_at(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n') + 1,
                    "NUL byte: not a text file");
  }
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) text.remove_prefix(kByteOrderMark.size());

  Feed feed{text, handler, 0, {}};
  const int status = ini_parse_stream(read_line, &feed, handle_key, &feed);
  // The first line that is wrong for inih, which goes on to the next.
  if (status > 0 && (feed.wrong.empty() || status < feed.line)) return wrong_at(status, "expected Key=value");
  if (!feed.wrong.empty()) return wrong_at(feed.line, feed.wrong);
  if (status != 0) return Error{fmt::format("{}: out of memory", escape_name(file))};
  return Done{};
}

}  // namespace keplerd
