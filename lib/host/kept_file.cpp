// SPDX-License-Identifier: Apache-2.0
#include "host/kept_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/parse.h"

namespace keplerd {
namespace {

constexpr std::size_t kFirstTextSize = 4096;
constexpr std::size_t kSmallestPage = 4096;
constexpr std::size_t kLongestLine = 512;  // of the lists of the kernel that are read

Result<UniqueFd> open_file(int directory, const char* path, int flags) {
  // Links are followed: /sys/class consists of them. O_NONBLOCK, in case the path is not a regular file.
  UniqueFd fd(::openat(directory, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags));
  if (!fd) return system_error(path, errno);
  return fd;
}

// pread(2), repeated if a signal interrupts it.
ssize_t read_at(int fd, char* to, std::size_t size, std::size_t offset) {
  ssize_t got = 0;
  do {
    got = ::pread(fd, to, size, static_cast<off_t>(offset));
  } while (got < 0 && errno == EINTR);
  return got;
}

// Fills `buffer` from `offset` on, up to its end or the file's; returns the new offset. Only an empty read
// marks the end: files made of records (cgroup.procs, mountinfo) come in pieces.
Result<std::size_t> fill(int fd, const char* path, std::span<char> buffer, std::size_t offset) {
  while (offset < buffer.size()) {
    const ssize_t got = read_at(fd, buffer.data() + offset, buffer.size() - offset, offset);
    if (got < 0) return system_error(path, errno);
    if (got == 0) break;
    offset += static_cast<std::size_t>(got);
  }
  return offset;
}

Result<bool> ends_at(int fd, const char* path, std::size_t offset) {
  char more = 0;
  const ssize_t got = read_at(fd, &more, 1, offset);
  if (got < 0) return system_error(path, errno);
  return got == 0;
}

Result<std::string_view> read_descriptor(int fd, const char* path, std::span<char> buffer) {
  const auto size = fill(fd, path, buffer, 0);
  if (!size) return size.error();
  if (*size == buffer.size()) {
    const auto ended = ends_at(fd, path, *size);
    if (!ended) return ended.error();
    if (!*ended) return system_error(path, EFBIG);
  }
  return std::string_view(buffer.data(), *size);
}

// The first read returns the whole record, unless the buffer was too small. Reading again to find the end
// would make the kernel format the whole record once more.
Result<std::string_view> read_whole(int fd, const char* path, std::span<char> buffer) {
  const ssize_t got = read_at(fd, buffer.data(), buffer.size(), 0);
  if (got < 0) return system_error(path, errno);
  if (static_cast<std::size_t>(got) == buffer.size()) return system_error(path, EFBIG);
  return std::string_view(buffer.data(), static_cast<std::size_t>(got));
}

// Reads as much of the file as `limit` allows; `buffer` grows to hold it, and the view refers to it. Its
// first `size` bytes have been read.
Result<std::string_view> read_growing(int fd, const char* path, std::string& buffer, std::size_t limit,
                                      std::size_t size = 0) {
  if (buffer.empty()) buffer.resize(std::min(limit, kFirstTextSize));
  while (true) {
    const auto filled = fill(fd, path, buffer, size);
    if (!filled) return filled.error();
    size = *filled;
    if (size < buffer.size()) break;
    const auto ended = ends_at(fd, path, size);
    if (!ended) return ended.error();
    if (*ended) break;
    if (size == limit) return system_error(path, EFBIG);
    buffer.resize(size > limit / 4 ? limit : size * 4);
  }
  return std::string_view(buffer.data(), size);
}

// The same for a list on the kernel's own file systems. The kernel writes as many lines as fit into a page,
// or more: if there is room for another one, the list has ended, and need not be read again to find its end.
Result<std::string_view> read_kernel_list(int fd, const char* path, std::string& buffer, std::size_t limit) {
  if (buffer.empty()) buffer.resize(std::min(limit, kFirstTextSize));
  const ssize_t got = read_at(fd, buffer.data(), buffer.size(), 0);
  if (got < 0) return system_error(path, errno);
  const auto size = static_cast<std::size_t>(got);
  if (size + kLongestLine <= std::min(buffer.size(), kSmallestPage))
    return std::string_view(buffer.data(), size);
  return read_growing(fd, path, buffer, limit, size);
}

// Calls `take` with each name in a directory until it returns false, having enough.
template <class Take>
Result<Done> for_each_name(int directory, const char* path, Take take) {
  auto fd = open_file(directory, path, O_DIRECTORY);
  if (!fd) return fd.error();
  const std::unique_ptr<DIR, decltype([](DIR* open) { ::closedir(open); })> stream(::fdopendir(fd->get()));
  if (!stream) return system_error(path, errno);
  const int opened = fd->release();
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr && errno != 0) return system_error(path, errno);
    if (entry == nullptr) return Done{};
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && !take(opened, *entry)) return Done{};
  }
}

std::uint64_t identity_of(const struct statx& status) {
  std::uint64_t identity = status.stx_ino;
  if ((status.stx_mask & STATX_BTIME) != 0) {
    constexpr std::uint64_t kNanoseconds = 1'000'000'000;
    constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;  // odd, so that no two times are mixed in alike
    identity ^=
        (static_cast<std::uint64_t>(status.stx_btime.tv_sec) * kNanoseconds + status.stx_btime.tv_nsec) *
        kMix;
  }
  return identity;
}

bool is_directory(int parent, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat status {};
  return ::fstatat(parent, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

Result<std::string_view> read_file(int directory, const char* path, std::span<char> buffer) {
  const auto fd = open_file(directory, path, 0);
  if (!fd) return fd.error();
  return read_descriptor(fd->get(), path, buffer);
}

Result<std::string_view> read_record(int directory, const char* path, std::span<char> buffer) {
  const auto fd = open_file(directory, path, 0);
  if (!fd) return fd.error();
  return read_whole(fd->get(), path, buffer);
}

Result<std::string_view> read_beginning(int directory, const char* path, std::span<char> buffer) {
  const auto fd = open_file(directory, path, 0);
  if (!fd) return fd.error();
  const auto size = fill(fd->get(), path, buffer, 0);
  if (!size) return size.error();
  return std::string_view(buffer.data(), *size);
}

Result<std::string> read_text(int directory, const char* path, std::size_t limit) {
  const auto fd = open_file(directory, path, 0);
  if (!fd) return fd.error();
  std::string text;
  const auto all = read_growing(fd->get(), path, text, limit);
  if (!all) return all.error();
  text.resize(all->size());
  return text;
}

Result<std::string> read_link(int directory, const char* path) {
  std::array<char, PATH_MAX> target;
  const ssize_t size = ::readlinkat(directory, path, target.data(), target.size());
  if (size < 0) return system_error(path, errno);
  return std::string(target.data(), static_cast<std::size_t>(size));
}

Result<std::vector<std::string>> list_directory(int directory, const char* path, std::size_t most) {
  std::vector<std::string> names;
  const auto done = for_each_name(directory, path, [&](int, const dirent& entry) {
    if (names.size() == most) return false;
    names.emplace_back(entry.d_name);
    return true;
  });
  if (!done) return done.error();
  return names;
}

Result<std::vector<std::string>> list_subdirectories(int directory, const char* path) {
  std::vector<std::string> names;
  const auto done = for_each_name(directory, path, [&](int opened, const dirent& entry) {
    if (is_directory(opened, entry)) names.emplace_back(entry.d_name);
    return true;
  });
  if (!done) return done.error();
  return names;
}

Result<Done> list_processes(int procfs, std::vector<std::int32_t>& pids) {
  pids.clear();
  return for_each_name(procfs, ".", [&](int, const dirent& entry) {
    const auto pid = parse_number<std::int32_t>(entry.d_name);
    if (pid && *pid > 0) pids.push_back(*pid);
    return true;
  });
}

Result<UniqueFd> open_directory(int directory, const char* path) {
  return open_file(directory, path, O_DIRECTORY);
}

Result<DirectoryStatus> read_status(int directory) {
  struct statx status {};
  if (::statx(directory, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME | STATX_UID, &status) != 0)
    return system_error("statx", errno);
  return DirectoryStatus{.identity = identity_of(status), .owner = status.stx_uid};
}

Result<std::uint64_t> read_identity(int directory, const char* path) {
  struct statx status {};
  if (::statx(directory, path, 0, STATX_INO | STATX_BTIME, &status) != 0) return system_error(path, errno);
  return identity_of(status);
}

Result<std::uint32_t> read_owner(int directory, const char* path) {
  struct statx status {};
  if (::statx(directory, path, AT_SYMLINK_NOFOLLOW, STATX_UID, &status) != 0)
    return system_error(path, errno);
  return status.stx_uid;
}

bool has_subdirectories(int directory) {
  struct statx status {};
  const bool is_known = ::statx(directory, "", AT_EMPTY_PATH, STATX_NLINK, &status) == 0;
  return !is_known || status.stx_nlink != 2;  // its name in its parent, and its own "."
}

bool is_kernel_file_system(int fd) {
  struct statfs file_system {};
  if (::fstatfs(fd, &file_system) != 0) return false;
  return file_system.f_type == SYSFS_MAGIC || file_system.f_type == PROC_SUPER_MAGIC ||
         file_system.f_type == CGROUP2_SUPER_MAGIC;
}

Result<KeptFile> KeptFile::open(int directory, std::string path, DescriptorBudget* budget) {
  auto place = budget != nullptr ? budget->take() : nullptr;
  KeptFile file;
  file.directory_ = directory;
  file.path_ = std::move(path);
  if (budget != nullptr && !place) return file;
  auto fd = open_file(directory, file.path_.c_str(), 0);
  if (!fd) return fd.error();
  if (!is_kernel_file_system(fd->get())) return file;
  if (place) file.path_ = file.path_.substr(file.path_.rfind('/') + 1);
  file.place_ = std::move(place);
  file.fd_ = *std::move(fd);
  return file;
}

Result<std::string_view> KeptFile::read(std::span<char> buffer) const {
  if (!fd_) return read_file(directory_, path_.c_str(), buffer);
  return read_whole(fd_.get(), path_.c_str(), buffer);
}

Result<std::string_view> KeptFile::read_list(std::string& buffer, std::size_t limit) const {
  if (fd_) return read_kernel_list(fd_.get(), path_.c_str(), buffer, limit);
  const auto fd = open_file(directory_, path_.c_str(), 0);
  if (!fd) return fd.error();
  return read_growing(fd->get(), path_.c_str(), buffer, limit);
}

Result<std::string_view> KeptFile::read_beginning(std::span<char> buffer) const {
  if (!fd_) return keplerd::read_beginning(directory_, path_.c_str(), buffer);
  const auto size = fill(fd_.get(), path_.c_str(), buffer, 0);
  if (!size) return size.error();
  return std::string_view(buffer.data(), *size);
}

}  // namespace keplerd
