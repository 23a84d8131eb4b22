// SPDX-License-Identifier: Apache-2.0
// What doctor looks at. All of it can be gathered without a running daemon and without being root.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "cli/options.h"
#include "config/load.h"
#include "energy/select_source.h"
#include "varlink/json.h"

namespace keplerd::cli {

struct FileFacts {
  std::string path;
  mode_t mode = 0;  // permission bits
  std::string owner, group;
  bool readable = false;  // by who runs doctor
};

struct ProcMount {
  std::string hidepid;  // as mounted: "2", "invisible"; empty: not used
  std::string gid;      // who sees all nevertheless
  bool operator==(const ProcMount&) const = default;
};

// Who runs doctor, as far as the daemon's group is concerned.
struct Caller {
  bool group_exists = true;
  bool is_root = false;
  bool in_group = false;
};

struct DoctorFacts {
  std::string address;
  Result<varlink::Json> status = Error{};               // GetStatus's reply, or why there is none
  std::vector<varlink::Json> zones;                     // the daemon's rows
  std::chrono::microseconds monotonic{0}, realtime{0};  // just after that reply
  std::optional<FileFacts> socket;                      // unset: no such file, or not to be seen
  Caller caller;

  std::optional<std::string> host_error;  // set: /sys or /proc cannot be read, and nothing below is known
  SourceProbes meters;                    // as who runs doctor sees them
  std::vector<std::string> shown_only;    // ids of the zones beside the meter
  std::vector<LeftOut> left_out;
  std::vector<FileFacts> counters;     // every energy_uj
  std::optional<std::string> cgroup2;  // where it is mounted
  ProcMount proc;
  bool interrupts_apart = false;     // the kernel accounts them apart
  std::optional<FileFacts> libvirt;  // where its running VMs are told

  std::vector<std::string> config_files;
  Settings settings;  // that they lead to
  std::optional<std::string> config_error;
};

// The options with which PROC itself is mounted, of proc_pid_mountinfo(5)'s lines.
ProcMount parse_proc_mount(std::string_view mountinfo);

DoctorFacts gather_facts(const std::string& address, const HostPaths& paths);

}  // namespace keplerd::cli
