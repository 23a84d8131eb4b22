// SPDX-License-Identifier: Apache-2.0
// Who used the CPU up to one instant: the groups (cgroups) and the processes that may have run, each with
// what the same one had used at the instant before. Passive data; the views live until the next sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "usage/cpu_ticks.h"
#include "usage/process_id.h"

namespace keplerd {

inline constexpr std::size_t kNoGroup = static_cast<std::size_t>(-1);

struct GroupUsage {
  std::uint64_t incarnation = 0;  // never 0 and never used again: a group reborn under its name has another
  std::size_t parent = kNoGroup;  // index into UsageSample::groups, smaller than the own; kNoGroup: the root
  std::string_view path;          // "/system.slice/cron.service", escaped by escape_name
  // Who owns the directory that it was found in, and so could make it: read when it was found. The owner of
  // the hierarchy's root counts as root (0).
  std::uint32_t parent_owner = 0;
  Nanoseconds usage{0};  // CPU time of the group and its descendants, exited ones included
  std::optional<Nanoseconds>
      before;  // at the sample before; unset in the first sample only (a group born since has 0)
};

struct ProcessUsage {
  ProcessId id;
  std::int32_t parent = 0;  // pid, when it was first seen
  std::string_view comm;    // escaped by escape_name
  bool fresh = false;  // seen for the first time, or not under this comm before: it may run another program
  bool kernel_thread = false;
  std::optional<std::uint32_t>
      user;  // the effective one when it was last looked at (ProcessTable); unset: not known
  std::optional<std::uint32_t> real_user;  // likewise; unset where it is the effective one, too
  std::size_t group = kNoGroup;  // index into UsageSample::groups; kNoGroup: in the root, or no cgroup2
  Nanoseconds usage{0};          // CPU time of all its threads, exited ones included
  struct Before {
    std::uint64_t group = 0;  // incarnation; 0: none
    Nanoseconds usage{0};
  };
  std::optional<Before> before;  // at the sample before; unset where it was not seen then
};

// A part of a group or of a process: a threaded cgroup (libvirt's "vcpu0", "emulator"), or a thread. Its time
// is inside theirs. Told only where they moved.
struct PartUsage {
  std::size_t group = kNoGroup;  // its domain: index into UsageSample::groups; kNoGroup: of `process`
  ProcessId process;
  std::int32_t thread = 0;  // of a process: its id
  std::string_view name;    // of the cgroup, or the thread's comm; escaped by escape_name
  Nanoseconds time{0};      // CPU time since the sample before; 0 where it was not known then
};

struct UsageSample {
  CpuTicks ticks;
  bool interrupts_apart =
      false;  // interrupt time is not inside the interrupted task's: the kernel has /proc/pressure/irq
  std::vector<GroupUsage> groups;  // every cgroup but the root and threaded ones, parents before children
  // Those with news: who has used CPU time since the sample before, was not seen then, or is in another group
  // or under another name or user.
  std::vector<ProcessUsage> processes;
  std::vector<ProcessId> ended;  // seen at an earlier sample and gone
  std::vector<PartUsage> parts;  // of the groups with threaded ones inside, and of processes asked for
};

}  // namespace keplerd
