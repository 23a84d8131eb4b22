// SPDX-License-Identifier: Apache-2.0
// How much memory keplerd itself takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "host/kept_file.h"

namespace keplerd {

class OwnMemory {
 public:
  OwnMemory();
  // Bytes in memory that are no file's, and so nobody else's; unset where the kernel does not tell.
  std::optional<std::int64_t> read() const;

 private:
  KeptFile statm_;
};

// Of the text of /proc/PID/statm (proc_pid_statm(5)): pages in memory without those of files. Unset where it
// is none.
std::optional<std::int64_t> parse_anonymous_pages(std::string_view statm);

}  // namespace keplerd
