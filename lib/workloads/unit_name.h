// SPDX-License-Identifier: Apache-2.0
// What a cgroup is, from its path alone.
#pragma once

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

}  // namespace keplerd
