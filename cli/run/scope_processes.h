// SPDX-License-Identifier: Apache-2.0
// The processes in a scope, from its cgroup.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/result.h"

namespace keplerd::cli::run {

// The path in cgroup2 from a /proc/PID/cgroup: "/user.slice/a.scope". Empty: it has none.
std::string_view cgroup2_path(std::string_view proc_cgroup);

// The directory of the scope of this name, which `process` is in. An error: it is not there, or the host has
// no cgroup2.
Result<std::string> scope_directory(pid_t process, std::string_view scope);

// A process in this cgroup or one below it that is not `except`. Unset: there is none. It has the PID 0 if
// this is in a PID namespace that keplerctl cannot see.
std::optional<pid_t> find_process(const std::string& directory, pid_t except);

}  // namespace keplerd::cli::run
