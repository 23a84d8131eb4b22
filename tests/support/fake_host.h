// SPDX-License-Identifier: Apache-2.0
// A host declared in code: /sys, /proc, a cgroup2 tree and a root directory in a temporary directory, in the
// kernel's own text formats, removed at the end. A failure here is a bug of the test: exceptions of
// std::filesystem are not caught.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "host/host_root.h"

namespace keplerd {

// The zone "intel-rapl:0:1" lies in "intel-rapl:0" of the control type "intel-rapl", as the kernel names
// them.
struct FakeZone {
  std::string dir;
  std::string name;
  std::int64_t energy = 0;                              // microjoules
  std::optional<std::int64_t> range = 262'143'328'850;  // microjoules; unset: no max_energy_range_uj
  std::vector<std::int64_t> limits = {};                // microwatts: constraint_N_power_limit_uw
  std::vector<std::int64_t> max_powers = {};            // microwatts: constraint_N_max_power_uw
};

struct FakeProcess {
  pid_t pid = 0;
  std::string comm = "task";
  pid_t ppid = 1;
  std::uint64_t start = 100;  // clock ticks since boot
  std::int64_t utime = 0;     // clock ticks
  std::int64_t stime = 0;
  std::string cgroup = "/";  // possibly a threaded one
  bool kernel_thread = false;
  std::string cmdline = {};  // arguments, each ended by a NUL
  // As in /proc/PID/status, which is read if the tree is root's; unset: no such file.
  std::optional<std::uint32_t> user = {}, real_user = {};
};

// Clock ticks.
struct FakeCpuTicks {
  std::int64_t user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
};

class FakeHost {
 public:
  // An Intel machine without powercap, cgroups or processes; /proc/stat is 0 throughout.
  FakeHost();
  ~FakeHost();
  FakeHost(const FakeHost&) = delete;
  FakeHost& operator=(const FakeHost&) = delete;

  HostPaths paths() const;
  HostRoot open() const;

  // Writes any file; `path` begins with "sys/", "proc/", "cgroup/" or "root/". Replaces the file atomically,
  // by renaming.
  void write(const std::string& path, std::string_view text);
  void remove(const std::string& path);
  void link(const std::string& path, const std::string& target);  // a symbolic link, like /proc/PID/exe
  // The file can be opened, but each read fails (EISDIR, standing for EIO and the like), until it is written
  // again.
  void break_file(const std::string& path);

  void add_powercap_zone(const FakeZone& zone);
  void remove_powercap_zone(const std::string& dir);  // with the zones in it
  void set_energy(const std::string& dir, std::int64_t microjoules);
  void set_energy_text(const std::string& dir, std::string_view text);
  void break_energy(const std::string& dir);
  void set_cpu_vendor(std::string_view vendor_id, std::string_view flags = "fpu");

  void set_stat(const FakeCpuTicks& ticks, const std::vector<FakeCpuTicks>& of_each_cpu = {});

  // Creates a group's missing ancestors, too, with no usage. "/" is the root.
  void add_cgroup(const std::string& path, std::int64_t usage_usec = 0);
  void set_cgroup_usage(const std::string& path, std::int64_t usage_usec);
  // Whether there are processes in it; watchers of its cgroup.events notice.
  void set_cgroup_populated(const std::string& path, bool populated);
  // Sets the user who may create cgroups in it. Needs root (chown).
  void set_cgroup_owner(const std::string& path, std::uint32_t user);
  // "threaded": its processes are listed by the nearest ancestor that is not, and its cgroup.procs cannot be
  // read.
  void set_cgroup_type(const std::string& path, const std::string& type);
  // Overrides what add_process() and similar functions have written, until they write again.
  void set_cgroup_procs(const std::string& path, const std::vector<pid_t>& pids);
  // Includes its descendants. A group added again under the same name has another inode, as in the kernel.
  void remove_cgroup(const std::string& path);

  // Keeps the groups' cgroup.procs up to date.
  void add_process(const FakeProcess& process);
  void set_process_time(pid_t pid, std::int64_t utime, std::int64_t stime = 0);
  void move_process(pid_t pid, const std::string& cgroup);
  void remove_process(pid_t pid);

 private:
  std::string zone_path(const std::string& dir) const;
  bool is_threaded(const std::string& cgroup) const;
  void write_process(const FakeProcess& process);
  void write_procs_of(const std::string& cgroup);
  std::string domain_of(std::string cgroup) const;

  std::filesystem::path root_;
  std::map<pid_t, FakeProcess> processes_;
  std::map<std::string, std::string> cgroup_types_;  // by path
  int removed_cgroups_ = 0;
};

}  // namespace keplerd
