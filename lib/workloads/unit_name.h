// SPDX-License-Identifier: Apache-2.0
// Derives unit names from cgroup paths. No I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace keplerd {

struct UnitName {
  std::string name;      // as systemctl shows it: "cron.service"
  bool is_unit = false;  // a systemd unit; else just a group created by something else
};

// `path`: "/system.slice/cron.service". systemd prefixes a unit's name with "_" if the cgroup file system has
// a file of that name (systemd's cg_escape); the prefix is removed.
UnitName name_unit(std::string_view path);

// The user whose slice ("/user.slice/user-1000.slice") the cgroup `path` is, or is inside of: root creates
// these, and everything below them belongs to that user. Unset outside such a slice.
std::optional<std::uint32_t> slice_user(std::string_view path);

// The system manager's service or scope that the cgroup `path` is, or is inside of: "web.service" for
// "/system.slice/web.service/payload". Empty if there is none; also empty inside user@UID.service, where
// everything belongs to that user's own manager.
std::string_view system_unit(std::string_view path);

}  // namespace keplerd
