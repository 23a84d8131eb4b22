// SPDX-License-Identifier: Apache-2.0
#include "base/replace_file.h"

#include <cerrno>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/write_all.h"

namespace keplerd {
namespace {

Result<Done> write(int fd, std::string_view text, const std::string& path, Sync sync) {
  auto written = write_all(fd, text, path);
  if (written && sync == Sync::kBefore && ::fsync(fd) != 0) return system_error(path, errno);
  return written;
}

}  // namespace

Result<UniqueFd> replace_file(const std::string& path, std::string_view text, int access, Sync sync) {
  const std::string temporary = path + ".new";
  UniqueFd fd(
      ::open(temporary.c_str(), access | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return system_error(temporary, errno);
  auto replaced = write(fd.get(), text, temporary, sync);
  if (replaced && ::rename(temporary.c_str(), path.c_str()) != 0) replaced = system_error(path, errno);
  if (replaced) return fd;
  ::unlink(temporary.c_str());
  return replaced.error();
}

}  // namespace keplerd
