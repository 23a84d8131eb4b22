// SPDX-License-Identifier: Apache-2.0
// What keplerd reads of a host's hardware and of its groups, in one file: a bug report carries it and a test
// replays it (tests/support/captured_host.h). Nothing that a process was given or wrote is in it: no command
// lines, no environment, no configuration, no VM's definition.
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

// Paths begin with "sys/", "proc/", "root/" or "cgroup/". What is not there is in none of them.
struct Capture {
  std::map<std::string, std::string> files;   // and their texts
  std::map<std::string, std::string> links;   // and where they lead to
  std::map<std::string, std::string> errors;  // what could not be read, and why ("EACCES")
  std::set<std::string> directories;          // that are there, empty ones too
  bool complete = true;                       // false: there is more than a capture may hold
};

Capture capture_host(const HostRoot& host);

// {"format":"keplerd-capture-1","complete":BOOL,"files":{PATH:TEXT},"links":{PATH:TARGET},
//  "errors":{PATH:NAME},"directories":[PATH]}
varlink::Json capture_json(const Capture& capture);

// Writes a new file, for its owner only: one that is there already is not touched (EEXIST).
Result<Done> write_capture(const std::string& path, const Capture& capture);

}  // namespace keplerd::cli
