// SPDX-License-Identifier: Apache-2.0
// Captures what keplerd reads of a host's hardware and groups in one file, to attach to a bug report and to
// replay in a test (tests/support/captured_host.h). It contains nothing that was passed to or written by a
// process: no command lines, no environment, no configuration, no VM definitions.
#pragma once

#include <map>
#include <set>
#include <string>

#include "base/result.h"
#include "varlink/json_fwd.h"

namespace keplerd {
class HostRoot;
}

namespace keplerd::cli {

// Paths begin with "sys/", "proc/", "root/" or "cgroup/". Missing files appear in none of the lists.
struct Capture {
  std::map<std::string, std::string> files;   // with their texts
  std::map<std::string, std::string> links;   // with their targets
  std::map<std::string, std::string> errors;  // unreadable files, with the reason ("EACCES")
  std::set<std::string> directories;          // existing ones, including empty ones
  bool complete = true;                       // false: limited to what a capture may hold
};

Capture capture_host(const HostRoot& host);

// {"format":"keplerd-capture-1","complete":BOOL,"files":{PATH:TEXT},"links":{PATH:TARGET},
//  "errors":{PATH:NAME},"directories":[PATH]}
varlink::Json capture_json(const Capture& capture);

// Writes a new file, accessible to its owner only; never overwrites an existing one (EEXIST).
Result<Done> write_capture(const std::string& path, const Capture& capture);

}  // namespace keplerd::cli
