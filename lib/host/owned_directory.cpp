// SPDX-License-Identifier: Apache-2.0
#include "host/owned_directory.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/kept_file.h"
#include "host/regular_file.h"

namespace keplerd {

Result<OwnedDirectory> open_owned(int parent, const std::string& path) {
  auto fd = open_without_links(parent, path.c_str());
  if (!fd) {
    const int code = fd.error().code;
    const bool is_other = code == ENOTDIR || code == ELOOP;
    return Error{.message = is_other ? "is not a directory" : fd.error().message, .code = code};
  }
  struct stat status {};
  if (::fstat(fd->get(), &status) != 0) return system_error(path, errno);
  return OwnedDirectory{*std::move(fd), status.st_uid, status.st_ino,
                        (status.st_mode & (S_IWGRP | S_IWOTH)) != 0};
}

Result<OwnedDirectory> open_roots(int parent, const std::string& path) {
  auto directory = open_owned(parent, path);
  if (!directory) return directory;
  if (directory->owner != 0 && directory->owner != ::geteuid())
    return Error{.message = "does not belong to root", .code = EPERM};
  if (directory->is_open_to_others)
    return Error{.message = "can be written to by others than root", .code = EPERM};
  return directory;
}

Result<std::vector<std::string>> names_in(const OwnedDirectory& directory, std::size_t most) {
  auto names = list_directory(directory.fd.get(), ".", most);
  if (!names) return names.error();
  std::ranges::sort(*names);
  return names;
}

bool has_entry(const OwnedDirectory& directory, const char* name) {
  struct stat status {};
  return ::fstatat(directory.fd.get(), name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

Result<std::optional<std::string>> read_owned(const OwnedDirectory& directory, const char* name,
                                              std::size_t limit) {
  struct stat status {};
  if (::fstatat(directory.fd.get(), name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return std::optional<std::string>();
    return system_error(name, errno);
  }
  // If it is replaced now, it is by the owner: only the owner can do so.
  if (status.st_uid != directory.owner)
    return Error{.message = fmt::format("{} does not belong to the owner of the directory", name)};
  FileStamp any;
  auto text = read_if_changed(directory.fd.get(), name, limit, any);
  if (text) return text;
  const bool is_too_large = text.error().code == EFBIG;
  return Error{.message = fmt::format("{} {}", name, is_too_large ? "is too large" : "is not a regular file"),
               .code = text.error().code};
}

}  // namespace keplerd
