// SPDX-License-Identifier: Apache-2.0
#include "cli/apps/desktop_entry.h"

#include <algorithm>
#include <cstddef>

#include "base/parse.h"
#include "base/text.h"

namespace keplerd::cli::apps {
namespace {

constexpr std::size_t kLongestName = 128;

// Decodes \s, \n, \t, \r and \\; anything else stays as it is.
std::string decode(std::string_view value) {
  constexpr std::string_view kLetters = "sntr\\", kMeanings = " \n\t\r\\";
  std::string out;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto known =
        value[i] == '\\' && i + 1 < value.size() ? kLetters.find(value[i + 1]) : std::string_view::npos;
    if (known == std::string_view::npos) {
      out += value[i];
    } else {
      out += kMeanings[known];
      ++i;
    }
  }
  return out;
}

// The locale of "Name[LOCALE]"; empty for "Name"; unset for another key.
std::optional<std::string_view> locale_of(std::string_view key) {
  if (!take_prefix(key, "Name")) return std::nullopt;
  if (key.empty()) return key;
  if (!take_prefix(key, "[") || !take_suffix(key, "]") || key.empty()) return std::nullopt;
  return key;
}

}  // namespace

std::vector<std::string> locale_keys(std::string_view locale) {
  std::string_view modifier = locale;
  const std::string_view with_encoding = take_until(modifier, '@');
  const std::string_view country = with_encoding.substr(0, with_encoding.find('.'));
  const std::string_view language = country.substr(0, country.find('_'));
  if (language.empty() || language == "C" || language == "POSIX") return {};
  std::vector<std::string> keys;
  const auto add = [&](std::string_view name) {
    if (!modifier.empty()) keys.push_back(std::string(name) + "@" + std::string(modifier));
    keys.emplace_back(name);
  };
  if (country != language) add(country);
  add(language);
  return keys;
}

std::optional<std::string> desktop_name(std::string_view text, const std::vector<std::string>& locales) {
  std::size_t best = locales.size() + 1;  // the index of the locale; behind them, that without one
  std::string_view found;
  bool inside = false;
  while (!text.empty() && best > 0) {
    const std::string_view line = trim(take_until(text, '\n'));
    if (line.starts_with('[')) {
      if (inside) break;  // the group is over
      inside = line == "[Desktop Entry]";
      continue;
    }
    const auto equals = line.find('=');
    if (!inside || line.starts_with('#') || equals == std::string_view::npos) continue;
    const auto locale = locale_of(trim(line.substr(0, equals)));
    if (!locale) continue;
    const auto wanted = std::ranges::find(locales, *locale);
    const auto rank = static_cast<std::size_t>(wanted - locales.begin());
    if (!locale->empty() && wanted == locales.end()) continue;
    const std::string_view value = trim(line.substr(equals + 1));
    if (rank >= best || value.empty()) continue;
    best = rank;
    found = value;
  }
  if (found.empty()) return std::nullopt;
  // What is decoded is not longer.
  return shown_name(decode(found.substr(0, 2 * kLongestName)));
}

std::string shown_name(std::string_view raw) {
  if (raw.size() > kLongestName) {
    std::size_t end = kLongestName;
    while (end > kLongestName - 4 && (static_cast<unsigned char>(raw[end]) & 0xc0) == 0x80) --end;
    raw = raw.substr(0, end);
  }
  return escape_name(raw);
}

}  // namespace keplerd::cli::apps
