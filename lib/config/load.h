// SPDX-License-Identifier: Apache-2.0
// Reads keplerd.conf and its drop-ins into Settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/files.h"
#include "config/settings.h"

namespace keplerd {

struct LoadedSettings {
  Settings settings;
  std::vector<std::string> files;  // that had something to say, in the order in which they were applied
};

// No file at all: the defaults. An error's message is one line, "FILE:LINE: what is wrong", or that of
// apply_config_files() (config/files.h).
Result<LoadedSettings> load_settings(const std::vector<std::string>& directories = kConfigDirectories);

// That file alone; it must exist.
Result<LoadedSettings> load_settings_file(const std::string& path);

// Applies the configuration text on top of `settings`; of a key that is set twice the last counts. Stops at
// the first error. `file` is for its message.
Result<Settings> parse_settings(std::string_view text, std::string_view file, Settings settings);

}  // namespace keplerd
