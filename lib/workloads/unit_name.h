// SPDX-License-Identifier: Apache-2.0
// What a cgroup is, from its path alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace keplerd {

struct UnitName {
  std::string name;      // as systemctl shows it: "cron.service"
  bool is_unit = false;  // of systemd; else just a group that somebody made
};

// `path`: "/system.slice/cron.service". systemd puts a "_" before a unit's name where the cgroup file system
// has a file of that name (systemd's cg_escape); it is taken off.
UnitName name_unit(std::string_view path);

// The user whose slice ("/user.slice/user-1000.slice") the cgroup `path` is, or is inside of: root makes
// these, and whatever is below them is for that user. Unset outside such a slice.
std::optional<std::uint32_t> slice_user(std::string_view path);

// The system manager's service or scope that the cgroup `path` is, or is inside of: "web.service" of
// "/system.slice/web.service/payload". Empty where there is none; empty too inside user@UID.service, where
// all is of that user's own manager.
std::string_view system_unit(std::string_view path);

}  // namespace keplerd
