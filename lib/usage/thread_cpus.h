// SPDX-License-Identifier: Apache-2.0
// On which CPUs a thread may run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keplerd {

class HostRoot;

// The Cpus_allowed_list of a /proc/PID/status (proc_pid_status(5)); empty if it is missing or malformed.
std::vector<int> parse_allowed_cpus(std::string_view status);

// Those of a mask as sched_getaffinity(2) writes it.
std::vector<int> cpus_of_mask(std::span<const unsigned long> mask);

// By sched_getaffinity(2), so that `tid` is one of this process's own pid namespace. The same as
// Cpus_allowed_list, but for CPUs that are offline, for a fiftieth of the cost. Empty if there is no such
// thread.
std::vector<int> read_affinity(std::int32_t tid);

// Of the thread whose directory in the procfs of `host` this is ("PID" or "PID/task/TID"), the cheaper way
// that works there. Empty if they are not known. Needs no capability.
std::vector<int> read_thread_cpus(const HostRoot& host, std::int32_t tid, const std::string& directory);

}  // namespace keplerd
