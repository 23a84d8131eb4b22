// SPDX-License-Identifier: Apache-2.0
#include "daemon/state_directory.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace keplerd {

Result<StateDirectory> lock_state_directory(const std::string& path,
                                            void (*warning)(const std::string& message)) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) warning(system_error(path, errno).message);
  UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || ::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return Error{path + ": another keplerd uses this state directory", errno};
    warning("state directory not locked: " + system_error(path, errno).message);
    return StateDirectory{path, nullptr};
  }
  return StateDirectory{path, std::make_shared<const UniqueFd>(std::move(directory))};
}

}  // namespace keplerd
