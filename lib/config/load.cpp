// SPDX-License-Identifier: Apache-2.0
#include "config/load.h"

#include <utility>

#include "config/files.h"
#include "config/settings_table.h"

namespace keplerd {
namespace {

ApplyFile apply_to(LoadedSettings& loaded) {
  return [&loaded](std::string_view text, const std::string& path) -> Result<Done> {
    auto settings = parse_settings(text, path, loaded.settings);
    if (!settings) return settings.error();
    loaded.settings = *std::move(settings);
    loaded.files.push_back(path);
    return Done{};
  };
}

Result<LoadedSettings> check(LoadedSettings loaded) {
  const auto together = check_together(loaded.settings);
  if (!together) return together.error();
  return loaded;
}

}  // namespace

Result<LoadedSettings> load_settings(const std::vector<std::string>& directories) {
  LoadedSettings loaded;
  const auto applied = apply_config_files(directories, "keplerd.conf", apply_to(loaded));
  if (!applied) return applied.error();
  return check(std::move(loaded));
}

Result<LoadedSettings> load_settings_file(const std::string& path) {
  LoadedSettings loaded;
  if (const auto applied = apply_config_file(path, apply_to(loaded)); !applied) return applied.error();
  return check(std::move(loaded));
}

}  // namespace keplerd
