// SPDX-License-Identifier: Apache-2.0
// What is common to the main functions of programs that count for cgroups.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "config/load.h"
#include "host/host_root.h"

namespace keplerd::meters {

// [--config FILE] [OPTION]... [PATH]...
class Arguments {
 public:
  Arguments(int argc, char** argv);

  // Whether the next one is this option, which is then behind.
  bool take(std::string_view option);
  std::string path(std::size_t index, const char* otherwise) const;

  // Of FILE, or of the files that keplerd reads.
  Result<LoadedSettings> settings() const;
  // Of the paths SYS, PROC and CGROUP from this index on; by default, of this host.
  Result<HostRoot> host(std::size_t first) const;

 private:
  std::string config_;
  std::vector<std::string> rest_;
};

// Logs the error. Returns the exit status.
int fail(const Error& error);

// Writes what `read` returns at a time (CLOCK_BOOTTIME), texts by the names of files, to usage files in
// `directory`: once a second, or less often if that takes long (pause_after()). Returns the exit status if
// they cannot be written.
int publish_counts(const std::string& directory,
                   const std::function<std::map<std::string, std::string>(Nanoseconds now)>& read);

}  // namespace keplerd::meters
