// SPDX-License-Identifier: Apache-2.0
// The cost of keplerd itself: CPU time, memory, and the energy attributed to its process.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "host/kept_file.h"
#include "report/report.h"
#include "usage/process_id.h"

namespace keplerd {

class Ledger;

class OwnMemory {
 public:
  OwnMemory();
  // Anonymous resident memory in bytes; unset if the kernel does not report it.
  std::optional<std::int64_t> read() const;

 private:
  KeptFile statm_;
};

class OwnCostReader {
 public:
  // `pid`: keplerd's on the measured host; 0 if it is not one of its processes.
  explicit OwnCostReader(std::int32_t pid) : pid_(pid) {}

  // The process of `pid`; unset if the ledger has no account of it.
  std::optional<ProcessId> process(const Ledger& ledger) const;

  // `before`: the cost at the previous sample.
  OwnCost read(const Ledger& ledger, const OwnCost& before) const;

 private:
  OwnMemory memory_;
  std::int32_t pid_;
};

// From the text of /proc/PID/statm (proc_pid_statm(5)): resident pages minus those of files. Unset if
// malformed.
std::optional<std::int64_t> parse_anonymous_pages(std::string_view statm);

}  // namespace keplerd
