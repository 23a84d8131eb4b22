// SPDX-License-Identifier: Apache-2.0
// Reads keplerd.conf and its drop-ins into Settings, in the order systemd uses (systemd.unit(5), "drop-in").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/settings.h"

namespace keplerd {

// Directories that may hold keplerd/keplerd.conf and keplerd/keplerd.conf.d/, strongest first.
inline const std::vector<std::string> kConfigDirectories = {"/etc", "/run", "/usr/local/lib", "/usr/lib"};

struct LoadedSettings {
  Settings settings;
  std::vector<std::string> files;  // that had something to say, in the order in which they were applied
};

// The main file from the first directory that has one, then the drop-ins `*.conf` of all, sorted by file
// name; of those with one name the strongest directory's counts, and one that is empty or a link to /dev/null
// masks the others. No file at all: the defaults. An error's message is one line, "FILE:LINE: what is wrong",
// or "FILE: what is wrong" for a file that cannot be read, is no regular file, or is larger than 1 MiB.
Result<LoadedSettings> load_settings(const std::vector<std::string>& directories = kConfigDirectories);

// That file alone; it must exist.
Result<LoadedSettings> load_settings_file(const std::string& path);

// Applies the configuration text on top of `settings`; of a key that is set twice the last counts. Stops at
// the first error. `file` is for its message.
Result<Settings> parse_settings(std::string_view text, std::string_view file, Settings settings);

}  // namespace keplerd
