// SPDX-License-Identifier: Apache-2.0
// Reads directories that other programs write for us. No link is followed, and nothing is read that is not a
// small regular file of the directory's owner: the user who may write there cannot make us block, or read
// what that user may not read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "base/unique_fd.h"

namespace keplerd {

struct OwnedDirectory {
  UniqueFd fd;
  uid_t owner = 0;
  ino_t inode = 0;
  bool is_open_to_others = false;  // its group or all users may create files in it
};

// `path` is relative to `parent`, without links and "..". Errors state what it is instead.
Result<OwnedDirectory> open_owned(int parent, const std::string& path);

// The same, for a directory in which only root may create others: it belongs to root, or to this process's
// user, and nobody else may write there.
Result<OwnedDirectory> open_roots(int parent, const std::string& path);

// The names in it, sorted; at most `most` of them.
Result<std::vector<std::string>> names_in(const OwnedDirectory& directory, std::size_t most);

bool has_entry(const OwnedDirectory& directory, const char* name);

// The text of a file; unset if there is none.
Result<std::optional<std::string>> read_owned(const OwnedDirectory& directory, const char* name,
                                              std::size_t limit);

}  // namespace keplerd
