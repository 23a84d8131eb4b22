// SPDX-License-Identifier: Apache-2.0
#include "cli/apps/app_unit.h"

#include <cctype>
#include <charconv>
#include <cstddef>
#include <optional>

#include "base/parse.h"

namespace keplerd::cli::apps {
namespace {

constexpr std::size_t kLongestId = 255;
constexpr std::size_t kUuidLength = 36;

// Decodes systemd's \xHH, which stand for what would have a meaning in a unit's name.
std::string unescape(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    unsigned char byte = 0;
    if (text.size() >= 4 && text.starts_with("\\x")) {
      const char* const digits = text.data() + 2;
      if (std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
        out += static_cast<char>(byte);
        text.remove_prefix(4);
        continue;
      }
    }
    out += text.front();
    text.remove_prefix(1);
  }
  return out;
}

bool is_usable(const std::string& id) {
  return !id.empty() && id.size() <= kLongestId && !id.starts_with('.') &&
         id.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
}

void add(std::vector<std::string>& ids, std::string_view escaped) {
  std::string id = unescape(escaped);
  if (is_usable(id)) ids.push_back(std::move(id));
}

// "[LAUNCHER-]ID". An id with hyphens that were not escaped looks like a launcher and an id, too.
std::vector<std::string> ids_of(std::string_view name) {
  std::vector<std::string> ids;
  if (const auto hyphen = name.find('-'); hyphen != std::string_view::npos) add(ids, name.substr(hyphen + 1));
  add(ids, name);
  return ids;
}

bool is_uuid(std::string_view text) {
  if (text.size() != kUuidLength) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
    if (hyphen ? text[i] != '-' : std::isxdigit(static_cast<unsigned char>(text[i])) == 0) return false;
  }
  return true;
}

// "snap.NAME.APP-UUID.scope", formerly with a dot before the UUID, or "snap.NAME.APP.service": the desktop
// file is NAME_APP.desktop.
std::vector<std::string> snap_ids(std::string_view name) {
  if (name.size() > kUuidLength && is_uuid(name.substr(name.size() - kUuidLength)))
    name.remove_suffix(kUuidLength + 1);
  const auto dot = name.find('.');
  if (dot == std::string_view::npos) return {};
  std::vector<std::string> ids;
  add(ids, std::string(name.substr(0, dot)) + "_" + std::string(name.substr(dot + 1)));
  return ids;
}

// Without "-RANDOM" of a scope or a slice, where there is more than that.
std::string_view without_random(std::string_view name) {
  const auto hyphen = name.rfind('-');
  return hyphen == std::string_view::npos || hyphen == 0 ? name : name.substr(0, hyphen);
}

}  // namespace

std::vector<std::string> app_ids(std::string_view unit) {
  const bool is_scope = take_suffix(unit, ".scope");
  const bool is_service = !is_scope && take_suffix(unit, ".service");
  const bool is_slice = !is_scope && !is_service && take_suffix(unit, ".slice");
  if (take_prefix(unit, "snap.")) return is_scope || is_service ? snap_ids(unit) : std::vector<std::string>();
  if (!take_prefix(unit, "app-")) return {};
  if (is_service) return ids_of(unit.substr(0, unit.find('@')));
  if (is_scope) return ids_of(without_random(unit));
  if (!is_slice) return {};
  // Of GNOME Terminal and of what D-Bus activates: "app-dbus\x2d:1.2\x2dorg.gnome.Foo.slice".
  constexpr std::string_view kDbus = "dbus\\x2d:", kHyphen = "\\x2d";
  if (!take_prefix(unit, kDbus)) return ids_of(unit);
  const auto hyphen = unit.find(kHyphen);
  if (hyphen == std::string_view::npos) return {};
  return ids_of(unit.substr(hyphen + kHyphen.size()));
}

}  // namespace keplerd::cli::apps
