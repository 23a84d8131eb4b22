// SPDX-License-Identifier: Apache-2.0
#include "base/read_all.h"

#include <algorithm>
#include <cerrno>

#include <unistd.h>

namespace keplerd {

Result<std::string> read_all(int fd, std::size_t most, std::string_view path) {
  constexpr std::size_t kFirst = 4096, kGrowth = 4;
  const std::size_t end = most + 1;  // one byte more than allowed, to detect a larger file
  std::string text;
  std::size_t size = 0;
  while (size < end) {
    // As `most` is often far more than there is, and all of it would have to be cleared.
    if (size == text.size()) text.resize(std::min(end, std::max(kFirst, size * kGrowth)));
    const ssize_t got = ::read(fd, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(path, errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > most) return system_error(path, EFBIG);
  text.resize(size);
  return text;
}

}  // namespace keplerd
