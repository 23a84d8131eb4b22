// SPDX-License-Identifier: Apache-2.0
#include "workloads/unit_name.h"

#include <algorithm>
#include <array>

#include "base/parse.h"

namespace keplerd {
namespace {

// The unit types that have a cgroup (systemd.unit(5)).
constexpr std::array<std::string_view, 6> kSuffixes = {".service", ".scope", ".slice",
                                                       ".socket",  ".mount", ".swap"};

}  // namespace

UnitName name_unit(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  const bool is_unit = std::ranges::any_of(kSuffixes, [&](std::string_view suffix) {
    return name.size() > suffix.size() && name.ends_with(suffix);
  });
  if (is_unit && name.starts_with('_')) name.remove_prefix(1);
  return {std::string(name), is_unit};
}

std::optional<std::uint32_t> slice_user(std::string_view path) {
  constexpr std::string_view kFront = "/user.slice/user-", kEnd = ".slice";
  if (!path.starts_with(kFront)) return std::nullopt;
  path.remove_prefix(kFront.size());
  std::string_view name = take_until(path, '/');
  if (!name.ends_with(kEnd)) return std::nullopt;
  name.remove_suffix(kEnd.size());
  return parse_number<std::uint32_t>(name);
}

std::string_view system_unit(std::string_view path) {
  while (!path.empty()) {
    std::string_view name = take_until(path, '/');
    if (name.empty() || name.ends_with(".slice")) continue;
    if (name.starts_with('_')) name.remove_prefix(1);
    const bool is_unit = name.ends_with(".service") || name.ends_with(".scope");
    return is_unit && !name.starts_with("user@") ? name : std::string_view();
  }
  return {};
}

}  // namespace keplerd
