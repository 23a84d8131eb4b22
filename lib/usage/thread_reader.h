// SPDX-License-Identifier: Apache-2.0
// Reads the CPU time of the threads of a few processes from /proc/PID/task/TID/schedstat
// (Documentation/scheduler/sched-stats.rst: the first number is nanoseconds on the CPU).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/kept_file.h"
#include "usage/usage_sample.h"

namespace keplerd {

class HostRoot;

class ThreadReader {
 public:
  // `host` must outlive the reader.
  explicit ThreadReader(const HostRoot& host) : host_(host) {}

  // Appends the threads of `process` to `parts`; none if it is gone. What a thread used between its last
  // reading and its end is lost. The names are valid until the next call for the same process, or end().
  void read(ProcessId process, std::vector<PartUsage>& parts);

  // Drops the state of these processes.
  void forget(const std::vector<ProcessId>& ended);

 private:
  struct Thread {
    std::string name;  // escaped
    KeptFile schedstat;
    Nanoseconds usage{0};
    std::uint64_t seen = 0;
  };
  struct Process {
    UniqueFd tasks;
    std::uint64_t reads = 0;
    std::map<std::int32_t, Thread> threads;
  };
  static void read_thread(ProcessId id, Process& process, const std::string& tid,
                          std::vector<PartUsage>& parts);

  const HostRoot& host_;
  std::map<ProcessId, Process> processes_;
};

}  // namespace keplerd
