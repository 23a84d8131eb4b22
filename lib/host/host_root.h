// SPDX-License-Identifier: Apache-2.0
// The one door to /sys, /proc, the cgroup2 tree and the host's own files. Everything that reads the host gets
// it from here, so that a test, a container or a captured host can stand in the host's place.
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
  std::string root = "/";               // where container runtimes and the like keep their files
};

class HostRoot {
 public:
  // Fails where sysfs or procfs cannot be opened, or a cgroup2 root or another root than "/" that was named.
  // A host without cgroup2 is fine.
  static Result<HostRoot> open(HostPaths paths);

  int sysfs() const { return sysfs_.get(); }
  int procfs() const { return procfs_.get(); }
  // Unset where the host has no cgroup2.
  std::optional<int> cgroupfs() const;
  // -1 where "/" cannot be opened: then nothing is found in it. Its files are for host/regular_file.h to
  // read.
  int root() const { return root_.get(); }

  const HostPaths& paths() const { return paths_; }  // `cgroupfs` as found
  // The procfs is this process's own, so that its pids can be asked for their CPU clocks.
  bool has_own_procfs() const { return own_procfs_; }

 private:
  HostPaths paths_;
  UniqueFd sysfs_, procfs_, cgroupfs_, root_;
  bool own_procfs_ = true;
};

// Where mountinfo (proc_pid_mountinfo(5)) says that cgroup2 is mounted: /sys/fs/cgroup, else
// /sys/fs/cgroup/unified (a hybrid host), else any other place. Mounts that a later one covers do not count.
std::optional<std::string> find_cgroup2(std::string_view mountinfo);

}  // namespace keplerd
