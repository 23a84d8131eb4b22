// SPDX-License-Identifier: Apache-2.0
#include "host/host_root.h"

#include <array>
#include <cerrno>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "base/parse.h"

namespace keplerd {
namespace {

// Long on hosts with thousands of container mounts.
constexpr std::size_t kMountinfoLimit = 16 << 20;

Result<UniqueFd> open_directory(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return system_error(path, errno);
  return fd;
}

// A procfs of another pid namespace, or files that stand in for one, has another "self" or none.
bool is_own_procfs(int procfs) {
  std::array<char, 32> target{};
  const ssize_t size = ::readlinkat(procfs, "self", target.data(), target.size());
  if (size <= 0 || !is_kernel_file_system(procfs)) return false;
  return parse_number<pid_t>({target.data(), static_cast<std::size_t>(size)}) == ::getpid();
}

}  // namespace

Result<HostRoot> HostRoot::open(HostPaths paths) {
  HostRoot host;
  auto sysfs = open_directory(paths.sysfs);
  if (!sysfs) return sysfs.error();
  auto procfs = open_directory(paths.procfs);
  if (!procfs) return procfs.error();
  host.sysfs_ = *std::move(sysfs);
  host.procfs_ = *std::move(procfs);
  host.own_procfs_ = is_own_procfs(host.procfs());

  auto root = open_directory(paths.root);
  if (!root && paths.root != HostPaths().root) return root.error();
  if (root) host.root_ = *std::move(root);

  const bool named = paths.cgroupfs.has_value();
  if (!named) {
    const auto mountinfo = read_text(host.procfs(), "self/mountinfo", kMountinfoLimit);
    if (mountinfo) paths.cgroupfs = find_cgroup2(*mountinfo);
  }
  if (paths.cgroupfs) {
    auto cgroupfs = open_directory(*paths.cgroupfs);
    if (!cgroupfs && named) return cgroupfs.error();
    if (cgroupfs) {
      host.cgroupfs_ = *std::move(cgroupfs);
    } else {
      paths.cgroupfs.reset();
    }
  }
  host.paths_ = std::move(paths);
  return host;
}

std::optional<int> HostRoot::cgroupfs() const {
  if (!cgroupfs_) return std::nullopt;
  return cgroupfs_.get();
}

}  // namespace keplerd
