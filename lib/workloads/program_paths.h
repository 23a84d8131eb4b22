// SPDX-License-Identifier: Apache-2.0
// The programs of processes, from /proc/PID/exe. Reading it requires CAP_SYS_PTRACE, except for processes of
// the daemon's own user: without it, paths are unknown.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "usage/usage_sample.h"

namespace keplerd {

class HostRoot;

struct FoundProgram {
  ProcessId process;
  // As the kernel shows it ("/usr/bin/cat", " (deleted)" at its end if it is), escaped by escape_name. Null:
  // unknown, or longer than 255 bytes: any user may choose it.
  std::shared_ptr<const std::string> path;
};

// One for each process of `usage` that is new or has another comm.
std::vector<FoundProgram> find_programs(const HostRoot& host, const UsageSample& usage);

}  // namespace keplerd
