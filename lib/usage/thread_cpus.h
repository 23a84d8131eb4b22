// SPDX-License-Identifier: Apache-2.0
// On which CPUs a thread may run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace keplerd {

class HostRoot;

// The Cpus_allowed_list of a /proc/PID/status (proc_pid_status(5)); empty if it is missing or malformed.
std::vector<int> parse_allowed_cpus(std::string_view status);

// As sched_getaffinity(2) has them for this process's own pid namespace: Cpus_allowed_list, without those
// that are offline, for a fiftieth of what it costs to read that file. Empty if there is no such thread.
std::vector<int> read_affinity(std::int32_t tid);

// Of the thread whose directory in the procfs of `host` this is ("PID" or "PID/task/TID"), the cheaper way
// that works there. Empty if they are not known. Needs no permission.
std::vector<int> read_thread_cpus(const HostRoot& host, std::int32_t tid, const std::string& directory);

}  // namespace keplerd
