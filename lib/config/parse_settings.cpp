// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "config/ini.h"
#include "config/load.h"
#include "config/settings_table.h"

namespace keplerd {

Result<Settings> parse_settings(std::string_view text, std::string_view file, Settings settings) {
  const auto set = [&](std::string_view section, std::string_view key, std::string_view value,
                       int line) -> Result<Done> {
    auto done = set_setting(settings, section, key, value);
    if (done && key == "Source")
      settings.energy.source_place.text = fmt::format("{}:{}", escape_name(file), line);
    return done;
  };
  if (auto parsed = parse_ini(text, file, {check_section, set}); !parsed) return parsed.error();
  return settings;
}

}  // namespace keplerd
