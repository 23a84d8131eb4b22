// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace keplerd {

// When the new contents are on the disk: before the old ones are replaced, or when the kernel writes them.
enum class Sync { kBefore, kLater };

// Replaces the file atomically: writes PATH.new and renames it, or removes it if that fails. The file is
// accessible to its owner only, and is returned open for writing at its end; with O_RDWR as `access` instead
// of O_WRONLY for reading, too.
Result<UniqueFd> replace_file(const std::string& path, std::string_view text, int access, Sync sync);

}  // namespace keplerd
