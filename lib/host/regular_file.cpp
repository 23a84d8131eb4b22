// SPDX-License-Identifier: Apache-2.0
#include "host/regular_file.h"

#include <array>
#include <cerrno>
#include <climits>
#include <ctime>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/parse.h"
#include "host/kept_file.h"

namespace keplerd {
namespace {

constexpr int kMostLinks = 40;  // the kernel's own limit

// Unset if it is not a link; `link` was opened with O_PATH.
std::optional<std::string> link_target(int link) {
  std::array<char, PATH_MAX> target;
  const ssize_t size = ::readlinkat(link, "", target.data(), target.size());
  if (size <= 0) return std::nullopt;
  return std::string(target.data(), static_cast<std::size_t>(size));
}

// For a `path` without a link or a "..".
Result<UniqueFd> open_below(int directory, const char* path, int flags) {
  UniqueFd here;
  std::string_view rest = path;
  while (true) {
    const std::string name(take_until(rest, '/'));
    if (name == "..") return system_error(path, EXDEV);
    const int how = rest.empty() ? flags : O_PATH | O_DIRECTORY;
    UniqueFd next(::openat(here ? here.get() : directory, name.c_str(), how | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return system_error(path, errno);
    if (rest.empty()) return next;
    here = std::move(next);
  }
}

Nanoseconds to_nanoseconds(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

FileStamp stamp_of(const struct stat& status) {
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = status.st_size,
          .changed = to_nanoseconds(status.st_mtim)};
}

// Whether a change right after this might leave the stamp unchanged.
bool is_young(const FileStamp& stamp) {
  constexpr Nanoseconds kCoarsest = std::chrono::seconds(2);
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const Nanoseconds age = to_nanoseconds(now) - stamp.changed;
  return age < kCoarsest && age > -kCoarsest;
}

Result<FileStamp> regular_stamp(const struct stat& status, const char* path, std::size_t limit) {
  if (!S_ISREG(status.st_mode)) return system_error(path, EINVAL);
  if (status.st_size < 0 || static_cast<std::uint64_t>(status.st_size) > limit)
    return system_error(path, EFBIG);
  return stamp_of(status);
}

// The first `size` bytes, or fewer at the end: anything written meanwhile changes the stamp.
Result<std::string> read_bytes(int fd, const char* path, std::size_t size) {
  std::string text(size, '\0');
  std::size_t filled = 0;
  while (filled < size) {
    const ssize_t got = ::read(fd, text.data() + filled, size - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(path, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

}  // namespace

Result<UniqueFd> open_inside(int root, const char* path) {
  std::vector<UniqueFd> above;  // the directories leading to the current one; empty: at the root
  const auto here = [&] { return above.empty() ? root : above.back().get(); };
  std::string rest = path;
  for (int links = 0; !rest.empty();) {
    std::string_view left = rest;
    const std::string name(take_until(left, '/'));
    rest = left;
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      if (!above.empty()) above.pop_back();
      continue;
    }
    UniqueFd next(::openat(here(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return system_error(path, errno);
    const auto target = link_target(next.get());
    if (!target) {
      above.push_back(std::move(next));
      continue;
    }
    if (++links > kMostLinks || target->size() + rest.size() >= PATH_MAX) return system_error(path, ELOOP);
    if (target->starts_with('/')) above.clear();
    rest.insert(0, *target + "/");
  }
  UniqueFd fd(::openat(here(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return system_error(path, errno);
  return fd;
}

Result<UniqueFd> open_without_links(int root, const char* path) {
  return open_below(root, path, O_RDONLY | O_DIRECTORY);
}

Result<std::optional<std::string>> read_if_changed(int directory, const char* path, std::size_t limit,
                                                   FileStamp& stamp) {
  const FileStamp known = std::exchange(stamp, {});
  struct stat status {};
  if (::fstatat(directory, path, &status, AT_SYMLINK_NOFOLLOW) != 0) return system_error(path, errno);
  auto now = regular_stamp(status, path, limit);
  if (!now) return now.error();
  if (*now == known) {
    stamp = known;
    return std::optional<std::string>();
  }
  const auto fd = open_below(directory, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!fd) return fd.error();
  if (::fstat(fd->get(), &status) != 0) return system_error(path, errno);
  now = regular_stamp(status, path, limit);
  if (!now) return now.error();
  auto text = read_bytes(fd->get(), path, static_cast<std::size_t>(now->size));
  if (!text) return text.error();
  if (!is_young(*now)) stamp = *now;
  return std::optional(*std::move(text));
}

Result<std::optional<std::vector<std::string>>> list_if_changed(int directory, std::size_t most,
                                                                FileStamp& stamp) {
  const FileStamp known = std::exchange(stamp, {});
  struct stat status {};
  if (::fstat(directory, &status) != 0) return system_error("directory", errno);
  const FileStamp now = stamp_of(status);
  if (now == known) {
    stamp = known;
    return std::optional<std::vector<std::string>>();
  }
  auto names = list_directory(directory, ".", most);
  if (!names) return names.error();
  if (!is_young(now)) stamp = now;
  return std::optional(*std::move(names));
}

Nanoseconds modified_at(int directory, const char* path) {
  struct stat status {};
  if (::fstatat(directory, path, &status, AT_SYMLINK_NOFOLLOW) != 0) return Nanoseconds{0};
  return to_nanoseconds(status.st_mtim);
}

}  // namespace keplerd
