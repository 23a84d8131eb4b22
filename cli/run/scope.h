// SPDX-License-Identifier: Apache-2.0
// Starts a transient scope of systemd for processes that exist already. Errors are sentences without the
// name of the scope: "there is no user manager: ...".
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "cli/run/properties.h"

namespace keplerd::cli::run {

enum class Manager { kSystem, kUser };

struct ScopeRequest {
  Manager manager = Manager::kUser;
  std::string name;         // "NAME.scope"
  std::string slice;        // empty: the manager's default
  std::string description;  // for `systemctl status`
  std::vector<Property> properties;
  std::vector<pid_t> processes;
};

struct Scope {
  std::string name;
  std::string cgroup;  // its path as in /proc/PID/cgroup
};

// Returns when the processes are in the scope. Waits for the manager, at most some ten seconds.
Result<Scope> start_scope(const ScopeRequest& request);

// A name that no other run uses.
std::string unique_scope_name();

// With ".scope" at its end; an error if it cannot be the name of a scope.
Result<std::string> scope_name(std::string_view name);
// With ".slice" at its end.
Result<std::string> slice_name(std::string_view name);

}  // namespace keplerd::cli::run
