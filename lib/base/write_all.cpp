// SPDX-License-Identifier: Apache-2.0
#include "base/write_all.h"

#include <cerrno>

#include <unistd.h>

namespace keplerd {

Result<Done> write_all(int fd, std::string_view text, std::string_view path) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error(path, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return Done{};
}

}  // namespace keplerd
