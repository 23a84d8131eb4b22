// SPDX-License-Identifier: Apache-2.0
// Reading what programs keep below the host's root directory (var/lib/docker, etc/pve): only what changed,
// only regular files, and nothing outside that root. What lies there can make us neither wait (a FIFO), nor
// read a device or without end. The exception is a FUSE file system (Proxmox's etc/pve) whose server hangs:
// it holds whoever reads it, which is why proxmox_names.h does so in the background.
//
// openat2(2) would do the same in one call, but fails in a service with RestrictSUIDSGID=, as keplerd's is:
// its filter cannot look into that call's arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"

namespace keplerd {

// What is the same as long as a file (or the list of names in a directory) is. The default one is no file's.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  Nanoseconds changed{};  // st_mtim

  bool operator==(const FileStamp&) const = default;
};

// The directory `path`; links in it are followed as if `root` were the root directory, `..` included.
Result<UniqueFd> open_inside(int root, const char* path);

// The same where there is no link in `path`, and no "..": for what others than root may have made.
Result<UniqueFd> open_without_links(int root, const char* path);

// The text of the regular file `path`, or unset where it is still the one of `stamp`; `stamp` is then its new
// one. No link is followed. An error where it is larger than `limit` (EFBIG), or no regular file (EINVAL).
// After an error, and after a text that is younger than the two seconds that file systems' clocks may be
// coarse, `stamp` is no file's, so that the next look reads again.
Result<std::optional<std::string>> read_if_changed(int directory, const char* path, std::size_t limit,
                                                   FileStamp& stamp);

// Likewise the names in the directory `path` (opened as by open_inside), without "." and "..", in no
// particular order. Of more than `most` names only that many are told.
Result<std::optional<std::vector<std::string>>> list_if_changed(int root, const char* path, std::size_t most,
                                                                FileStamp& stamp);

// When `path` was last written, since 1970; 0 where it is not there. No link is followed.
Nanoseconds modified_at(int directory, const char* path);

}  // namespace keplerd
