// SPDX-License-Identifier: Apache-2.0
// The keys of keplerd.conf(5), in one table: how each is read, checked and written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/settings.h"

namespace keplerd {

// Sets one key from its text; an empty value sets the default again. On failure `settings` is untouched and
// the error says what is accepted, e.g. "Interval=1min: must be 0 or ...". For --source and --interval, too.
Result<Done> set_setting(Settings& settings, std::string_view section, std::string_view key,
                         std::string_view value);

// Nothing wrong, or the reason why `section` may not stand in a configuration file.
Result<Done> check_section(std::string_view section);

// What involves several keys: Source=estimated needs IdleWatts= and MaxWatts=, and the one is not above the
// other. For when all files are read; the error begins with where Source= was set, if it was in a file.
Result<Done> check_together(const Settings& settings);

struct SettingText {
  std::string_view section;  // without brackets
  std::string_view key;      // without "="
  std::string value;         // set_setting reads it back to the same

  bool operator==(const SettingText&) const = default;
};

// Every key with its effective value, in the order of the manual page.
std::vector<SettingText> describe_settings(const Settings& settings);

// The same as the text of a configuration file, for --check-config.
std::string format_settings(const Settings& settings);

}  // namespace keplerd
