// SPDX-License-Identifier: Apache-2.0
// What keplerd itself costs: CPU time, memory, and the energy that it is given as a process.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "host/kept_file.h"
#include "report/report.h"

namespace keplerd {

class Ledger;

class OwnMemory {
 public:
  OwnMemory();
  // Bytes in memory that are no file's, and so nobody else's; unset where the kernel does not tell.
  std::optional<std::int64_t> read() const;

 private:
  KeptFile statm_;
};

class OwnCostReader {
 public:
  // `pid`: keplerd's on the host that is measured; 0 where it is not one of its processes.
  explicit OwnCostReader(std::int32_t pid) : pid_(pid) {}

  // `before`: what it was at the sample before.
  OwnCost read(const Ledger& ledger, const OwnCost& before) const;

 private:
  OwnMemory memory_;
  std::int32_t pid_;
};

// Of the text of /proc/PID/statm (proc_pid_statm(5)): pages in memory without those of files. Unset where it
// is none.
std::optional<std::int64_t> parse_anonymous_pages(std::string_view statm);

}  // namespace keplerd
