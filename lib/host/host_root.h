// SPDX-License-Identifier: Apache-2.0
// The one door to /sys, /proc and the cgroup2 tree. Everything that reads the host gets it from here, so that a
// test, a container or a captured host can stand in the host's place.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace keplerd {

// Reads all of the file `path` (relative to `directory`) into `buffer`; the view is of `buffer`. A file that does not
// fit is an error (EFBIG): nothing here is read in part. Errors name `path`.
Result<std::string_view> read_file(int directory, const char* path, std::span<char> buffer);

// The same for files of unknown size up to `limit` bytes.
Result<std::string> read_text(int directory, const char* path, std::size_t limit);

// Names in the directory `path`, without "." and "..", in no particular order.
Result<std::vector<std::string>> list_directory(int directory, const char* path);

// A file that is read over and over: opened once and read from its start each time. That holds on the kernel's own
// file systems (sysfs, procfs, cgroup2), where a kept descriptor also tells a reborn object from the old one. On
// any other, where a file may be replaced by renaming, it is opened anew for each read.
// `directory` must stay open as long as the file is used.
class KeptFile {
 public:
  KeptFile() = default;
  static Result<KeptFile> open(int directory, std::string path);

  Result<std::string_view> read(std::span<char> buffer) const;
  explicit operator bool() const { return directory_ >= 0; }

 private:
  int directory_ = -1;
  std::string path_;
  UniqueFd fd_;  // unset: open anew each time
};

// True where `fd` lies on one of the kernel's own file systems (see KeptFile).
bool is_kernel_file_system(int fd);

struct HostPaths {
  std::string sysfs = "/sys";
  std::string procfs = "/proc";
  std::optional<std::string> cgroupfs;  // the cgroup2 root itself; unset: found in PROCFS/self/mountinfo
};

class HostRoot {
 public:
  // Fails where sysfs or procfs cannot be opened, or a cgroup2 root that was named. A host without cgroup2 is fine.
  static Result<HostRoot> open(HostPaths paths);

  int sysfs() const { return sysfs_.get(); }
  int procfs() const { return procfs_.get(); }
  // Unset where the host has no cgroup2.
  std::optional<int> cgroupfs() const;

  const HostPaths& paths() const { return paths_; }  // `cgroupfs` as found
  // The procfs is this process's own, so that its pids can be asked for their CPU clocks.
  bool has_own_procfs() const { return own_procfs_; }

 private:
  HostPaths paths_;
  UniqueFd sysfs_, procfs_, cgroupfs_;
  bool own_procfs_ = true;
};

// Where mountinfo (proc_pid_mountinfo(5)) says that cgroup2 is mounted: /sys/fs/cgroup before any other place.
std::optional<std::string> find_cgroup2(std::string_view mountinfo);

}  // namespace keplerd
