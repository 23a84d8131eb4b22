// SPDX-License-Identifier: Apache-2.0
#include "daemon/write_ahead_file.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/read_all.h"
#include "base/replace_file.h"
#include "base/write_all.h"
#include "host/kept_file.h"

namespace keplerd {
namespace {

constexpr std::size_t kLimit = 256 << 20;  // for reading: four times what is ever written

}  // namespace

Result<std::string> WriteAheadFile::read() const {
  auto text = read_text(AT_FDCWD, path_.c_str(), kLimit);
  if (!text && text.error().code == ENOENT) return std::string();
  return text;
}

Result<Done> WriteAheadFile::open_at(std::size_t length) {
  auto fd = open(0);
  if (!fd) return fd.error();
  if (::ftruncate(fd->get(), static_cast<off_t>(length)) != 0) return system_error(path_, errno);
  fd_ = *std::move(fd);
  size_ = length;
  return Done{};
}

Result<Done> WriteAheadFile::create() {
  auto fd = open(O_CREAT | O_TRUNC);
  if (!fd) return fd.error();
  fd_ = *std::move(fd);
  size_ = 0;
  return Done{};
}

Result<Done> WriteAheadFile::append(std::string_view record) {
  const auto written = write_all(fd_.get(), record, path_);
  if (!written) {
    (void)remove();
    return written.error();
  }
  size_ += record.size();
  return Done{};
}

Result<Done> WriteAheadFile::drop(std::size_t length) {
  if (::lseek(fd_.get(), static_cast<off_t>(length), SEEK_SET) < 0) return system_error(path_, errno);
  const auto rest = read_all(fd_.get(), size_ - length, path_);
  if (!rest) return rest.error();
  auto fd = replace_file(path_, *rest, O_RDWR, Sync::kLater);
  if (!fd) return fd.error();
  fd_ = *std::move(fd);
  size_ = rest->size();
  return Done{};
}

Result<Done> WriteAheadFile::remove() {
  const bool is_empty = fd_ && ::ftruncate(fd_.get(), 0) == 0;
  fd_.reset();
  size_ = 0;
  if (::unlink(path_.c_str()) == 0 || is_empty) return Done{};
  const auto failed = system_error(path_, errno);
  // On a read-only file system that is so even where there is none.
  if (::access(path_.c_str(), F_OK) != 0 && errno == ENOENT) return Done{};
  return failed;
}

// Accessible to its owner only, and never a link.
Result<UniqueFd> WriteAheadFile::open(int flags) const {
  UniqueFd fd(::open(path_.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, 0600));
  if (!fd) return system_error(path_, errno);
  return fd;
}

}  // namespace keplerd
