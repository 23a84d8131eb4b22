// SPDX-License-Identifier: Apache-2.0
// The facts that doctor evaluates. All of them can be gathered without a running daemon and without root.
#pragma once

#include <chrono>
#include <cstddef>
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
  bool readable = false;  // by the user running doctor
};

struct ProcMount {
  std::string hidepid;  // as mounted: "2", "invisible"; empty: not used
  std::string gid;      // the group that is exempt
  bool operator==(const ProcMount&) const = default;
};

// The user running doctor, with respect to the daemon's group.
struct Caller {
  bool group_exists = true;
  bool is_root = false;
  bool in_group = false;
};

// What the host counts of one kind.
struct CountFacts {
  bool can_count = false;      // the processor can count it for groups of processes
  bool counts_groups = false;  // resctrl is mounted, and does so
  std::optional<std::string>
      report;  // the first line that keplerd-resctrl or keplerd-perf has written; unset: none runs
  std::size_t measured = 0;  // cgroups in the other lines
};

struct DoctorFacts {
  std::string address;
  Result<varlink::Json> status = Error{};               // GetStatus's reply, or why there is none
  std::vector<varlink::Json> zones;                     // the daemon's rows
  std::chrono::microseconds monotonic{0}, realtime{0};  // just after that reply
  std::optional<FileFacts> socket;                      // unset: it does not exist, or is not visible
  Caller caller;

  std::optional<std::string> host_error;  // set: /sys or /proc cannot be read, and nothing below is known
  SourceProbes meters;                    // as seen by the user running doctor
  std::vector<std::string> shown_only;    // ids of the zones that are only shown
  std::vector<LeftOut> left_out;
  std::vector<FileFacts> counters;     // every energy_uj
  std::optional<std::string> cgroup2;  // its mount point
  bool has_cgroups = false;            // in cgroup2, below its root
  ProcMount proc;
  bool interrupts_apart = false;  // the kernel accounts interrupt time separately
  bool has_frequency = false;     // of the first processor, from cpufreq
  CountFacts memory_traffic, core_energy;
  // Of hardware counters: `counts_groups` if the kernel can use them, `can_count` if they say who uses
  // memory.
  CountFacts events;
  std::size_t monitoring_groups = 0;      // of resctrl, without the default one
  std::chrono::microseconds boottime{0};  // CLOCK_BOOTTIME, when these were read
  std::optional<FileFacts> libvirt;       // where libvirt keeps its running VMs

  std::vector<std::string> config_files;
  Settings settings;  // resulting from them
  std::optional<std::string> config_error;
};

// The mount options of PROC itself, from the lines of proc_pid_mountinfo(5).
ProcMount parse_proc_mount(std::string_view mountinfo);

DoctorFacts gather_facts(const std::string& address, const HostPaths& paths);

}  // namespace keplerd::cli
