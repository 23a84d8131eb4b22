// SPDX-License-Identifier: Apache-2.0
// The only access to /sys, /proc, the cgroup2 tree and the host's own files. All code that reads the host
// goes through it, so that a test, a container or a captured host can be substituted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "host/kept_file.h"

namespace keplerd {

struct HostPaths {
  std::string sysfs = "/sys";
  std::string procfs = "/proc";
  std::optional<std::string> cgroupfs;  // the cgroup2 root itself; unset: found in PROCFS/self/mountinfo
  std::string root = "/";               // where container runtimes and other programs keep their files
};

class HostRoot {
 public:
  // Fails if sysfs or procfs cannot be opened, or an explicitly named cgroup2 root or root other than "/". A
  // host without cgroup2 is fine.
  static Result<HostRoot> open(HostPaths paths);

  int sysfs() const { return sysfs_.get(); }
  int procfs() const { return procfs_.get(); }
  // Unset if the host has no cgroup2.
  std::optional<int> cgroupfs() const;
  // -1 if "/" cannot be opened: then nothing is found in it. Its files are read with host/regular_file.h
  // only.
  int root() const { return root_.get(); }

  const HostPaths& paths() const { return paths_; }  // with `cgroupfs` as found
  // The procfs is this process's own, so CPU clocks can be read by its pids.
  bool has_own_procfs() const { return own_procfs_; }

 private:
  HostPaths paths_;
  UniqueFd sysfs_, procfs_, cgroupfs_, root_;
  bool own_procfs_ = true;
};

// Where cgroup2 is mounted according to mountinfo (proc_pid_mountinfo(5)): /sys/fs/cgroup, else
// /sys/fs/cgroup/unified (a hybrid host), else any other place. Mounts covered by a later one do not
// count.
std::optional<std::string> find_cgroup2(std::string_view mountinfo);

}  // namespace keplerd
