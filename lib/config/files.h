// SPDX-License-Identifier: Apache-2.0
// Finds and reads a configuration file and its drop-ins, in the order systemd uses (systemd.unit(5),
// "drop-in").
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace keplerd {

// Directories that may hold keplerd/NAME and keplerd/NAME.d/, strongest first.
inline const std::vector<std::string> kConfigDirectories = {"/etc", "/run", "/usr/local/lib", "/usr/lib"};

// Applies the text of one file on top of those before it. Files without text are not applied.
using ApplyFile = std::function<Result<Done>(std::string_view text, const std::string& path)>;

// The main file from the first directory that has one, then the drop-ins `*.conf` of all, sorted by file
// name; of those with one name the strongest directory's counts, and one that is empty or a link to /dev/null
// masks the others. No file at all is not an error. Errors are those of `apply`, or "FILE: what is wrong" for
// a file that cannot be read, is no regular file, or is larger than 1 MiB.
Result<Done> apply_config_files(const std::vector<std::string>& directories, const std::string& name,
                                const ApplyFile& apply);

// That file alone. One that is not there is an error with code ENOENT or ENOTDIR.
Result<Done> apply_config_file(const std::string& path, const ApplyFile& apply);

}  // namespace keplerd
