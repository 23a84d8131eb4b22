// SPDX-License-Identifier: Apache-2.0
#include "meters/resctrl/group_files.h"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "host/host_root.h"
#include "meters/resctrl/groups.h"

namespace keplerd::resctrl {
namespace {

std::string path_of(const std::string& name) { return fmt::format("{}/mon_groups/{}", kRoot, name); }

Error failed(const std::string& path) { return system_error("/sys/" + path, errno); }

}  // namespace

Result<Done> KernelGroupFiles::make(const std::string& name) {
  const std::string path = path_of(name);
  if (::mkdirat(host_.sysfs(), path.c_str(), 0755) != 0) return failed(path);
  return Done{};
}

Result<Done> KernelGroupFiles::remove(const std::string& name) {
  const std::string path = path_of(name);
  if (::unlinkat(host_.sysfs(), path.c_str(), AT_REMOVEDIR) != 0) return failed(path);
  return Done{};
}

Result<Done> KernelGroupFiles::move(std::int32_t thread, const std::string& name) {
  const std::string path = (name.empty() ? std::string(kRoot) : path_of(name)) + "/tasks";
  const UniqueFd file(::openat(host_.sysfs(), path.c_str(), O_WRONLY | O_CLOEXEC));
  const std::string line = fmt::format("{}\n", thread);
  if (!file || ::write(file.get(), line.data(), line.size()) < 0) return failed(path);
  return Done{};
}

}  // namespace keplerd::resctrl
