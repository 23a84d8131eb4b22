// SPDX-License-Identifier: Apache-2.0
// CPU usage up to one instant: the groups (cgroups) and the processes that may have run, each with what it
// had used at the previous instant. Passive data; the views are valid until the next sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "usage/count_source.h"
#include "usage/cpu_ticks.h"
#include "usage/process_id.h"

namespace keplerd {

inline constexpr std::size_t kNoGroup = static_cast<std::size_t>(-1);
inline constexpr std::size_t kNoProcess = static_cast<std::size_t>(-1);

// A logical CPU that is online, and what it did since the previous sample.
struct CpuUsage {
  int number = 0;   // the kernel's
  int package = 0;  // the kernel's
  // Zone::index of what counts its energy: `package`, or, if a package has several dies with meters of their
  // own, the number of the die among all dies of the host.
  int die = 0;
  std::size_t core = 0;    // among all cores
  CpuFields stat{};        // its line of /proc/stat; zeros if there is none
  std::int64_t busy = 0;   // clock ticks
  std::int64_t total = 0;  // busy and idle ones; 0 if it was not known at the previous sample
  std::int64_t khz = 0;    // its frequency; 0: not read
};

// Some CPUs of a sample: one flag for each of UsageSample::cpus.
using CpuSet = std::vector<std::uint8_t>;

struct GroupUsage {
  std::uint64_t incarnation =
      0;  // never 0 and never reused: a group recreated under the same name has another one
  std::size_t parent = kNoGroup;  // index into UsageSample::groups, less than its own; kNoGroup: the root
  std::string_view path;          // "/system.slice/cron.service", escaped by escape_name
  // The owner of the directory that contains it, who could therefore create it; read when it was found. The
  // owner of the hierarchy's root counts as root (0).
  std::uint32_t parent_owner = 0;
  Nanoseconds usage{0};  // CPU time of the group and its descendants, exited ones included
  std::optional<Nanoseconds>
      before;  // at the previous sample; unset in the first sample only. A group created since has 0, less
               // what groups of the same path have used that were created and have ended since.
  std::size_t cpu_class = 0;   // index into UsageSample::cpu_classes
  std::uint64_t identity = 0;  // of its directory (read_identity()), also in other runs on the same boot
  // It has used CPU time since its processes were last read. They have been when this is false again; each
  // has then, as `before`, what it had used when it was last read.
  bool behind = false;
};

struct ProcessUsage {
  ProcessId id;
  std::int32_t parent = 0;  // pid, when it was first seen
  std::string_view comm;    // escaped by escape_name
  bool fresh = false;       // new, or under a new comm: it may run another program
  bool kernel_thread = false;
  std::optional<std::uint32_t> user;       // the effective one when last read (ProcessTable); unset: unknown
  std::optional<std::uint32_t> real_user;  // likewise; unset if the same as the effective one
  std::size_t group = kNoGroup;  // index into UsageSample::groups; kNoGroup: in the root, or no cgroup2
  Nanoseconds usage{0};          // CPU time of all its threads, exited ones included
  struct Before {
    std::uint64_t group = 0;  // incarnation; 0: none
    Nanoseconds usage{0};
  };
  std::optional<Before> before;  // at the previous sample, or if its group was behind then, when it was last
                                 // read; unset if not seen then
};

// What a group may use at most, by its own files; the limits of those above it hold for it, too. Unset: no
// limit.
struct GroupLimits {
  std::optional<Nanoseconds> cpu_time;  // in a second, on all CPUs together
  std::optional<std::int64_t> memory;   // bytes; no more than the memory of the VM whose group it is
  std::optional<int> vcpus;             // of that VM

  bool operator==(const GroupLimits&) const = default;
};

// 0: not known.
struct HostSize {
  int cpus = 0;             // online
  std::int64_t memory = 0;  // bytes
};

// A part of a group or of a process: a threaded cgroup (libvirt's "vcpu0", "emulator"), or a thread. Its time
// is included in theirs. Reported only if they were active.
struct PartUsage {
  std::size_t group = kNoGroup;  // its domain: index into UsageSample::groups; kNoGroup: of `process`
  ProcessId process;
  std::int32_t thread = 0;  // of a process: the thread id
  std::string_view name;    // of the cgroup, or the thread's comm; escaped by escape_name
  Nanoseconds time{0};      // CPU time since the previous sample; 0 if it was not known then
};

// The use of a device by a process since the previous sample.
struct EngineUse {
  std::size_t group = kNoGroup;      // of the process; kNoGroup: outside any
  std::size_t process = kNoProcess;  // index into UsageSample::processes; kNoProcess: it has ended, was not
                                     // in this group for the whole window, or is not tracked individually
  Nanoseconds time{0};               // for which the device's engines worked for it; more than 0
};

// A device, such as a graphics card, whose use in this window is known.
struct DeviceUsage {
  std::string address;  // "0000:03:00.0", as Zone::device has it
  std::vector<EngineUse> uses;
};

// What the hardware counted since the previous sample, in all, and of the groups for which it is measured.
struct GroupCounts {
  struct OfGroup {
    std::size_t group = kNoGroup;  // index into UsageSample::groups; with those below it that are not here
    Count count;                   // may be 0
  };
  CountSource source;           // its die is Zone::index of what counts the energy of the same thing
  Count all;                    // at least those below together
  std::vector<OfGroup> groups;  // each once
};

struct UsageSample {
  CpuFields stat{};         // of all CPUs
  CpuTicks ticks;           // their sums
  std::uint64_t forks = 0;  // processes and threads created since boot; 0: not known
  bool interrupts_apart =
      false;  // interrupt time is not part of the interrupted task's: the kernel has /proc/pressure/irq
  // Every cgroup but the root and threaded ones, parents before children; and those that have ended since the
  // previous sample, if it is known what they used.
  std::vector<GroupUsage> groups;
  // Those that have changed: used CPU time since the previous sample, are new, or have moved to another group
  // or have another name or user. And those that used a device.
  std::vector<ProcessUsage> processes;
  std::vector<ProcessId> ended;  // seen in an earlier sample and gone
  // What the CPUs did, and on which ones groups may run; read on request only. The first class has all CPUs.
  std::vector<CpuUsage> cpus;
  std::vector<CpuSet> cpu_classes;
  // What the groups, in the same order, and the host may use at most; read on request only.
  std::vector<GroupLimits> limits;
  std::size_t limits_unread = 0;  // groups whose limits have yet to be read
  HostSize host;
  std::vector<DeviceUsage> devices;  // each address once
  std::vector<GroupCounts> counts;   // each source once; where they are known
  std::vector<PartUsage> parts;      // of the groups with threaded ones inside, and of processes requested
};

// The index of the group of this incarnation; kNoGroup if there is none.
std::size_t group_with(const UsageSample& sample, std::uint64_t incarnation);

}  // namespace keplerd
