// SPDX-License-Identifier: Apache-2.0
// Reads files that programs keep below the host's root directory (var/lib/docker, etc/pve): only what
// changed, only regular files, and nothing outside that root. Whatever lies there can neither block us (a
// FIFO), nor make us read a device or without end. The exception is a FUSE file system (Proxmox's etc/pve)
// with a hanging server: it blocks its readers, which is why proxmox_names.h reads it in the background.
//
// openat2(2) would do the same in one call, but fails in a service with RestrictSUIDSGID=, such as keplerd's:
// the seccomp filter cannot inspect that call's arguments.
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

// Identifies the version of a file (or of a directory's list of names). The default one matches no file.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  Nanoseconds changed{};  // st_mtim

  bool operator==(const FileStamp&) const = default;
};

// Opens the directory `path`; links in it are followed as if `root` were the root directory, `..` included.
Result<UniqueFd> open_inside(int root, const char* path);

// The same for a path without links or "..": for trees that others than root can modify.
Result<UniqueFd> open_without_links(int root, const char* path);

// The text of the regular file `path`, or unset if it still matches `stamp`; updates `stamp`. No link is
// followed. Fails if it is larger than `limit` (EFBIG), or not a regular file (EINVAL). After an error, and
// if the file changed less than two seconds ago (file systems' clocks may be that coarse), `stamp` is reset
// to match no file, so that the next call reads again.
Result<std::optional<std::string>> read_if_changed(int directory, const char* path, std::size_t limit,
                                                   FileStamp& stamp);

// Likewise the names in an open directory, without "." and "..", in no particular order; at most `most` of
// them.
Result<std::optional<std::vector<std::string>>> list_if_changed(int directory, std::size_t most,
                                                                FileStamp& stamp);

// When `path` was last written, since 1970; 0 if it does not exist. No link is followed.
Nanoseconds modified_at(int directory, const char* path);

}  // namespace keplerd
