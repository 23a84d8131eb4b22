// SPDX-License-Identifier: Apache-2.0
// What was learned about a meter of the platform, to be saved.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "attribution/platform/wall_line.h"
#include "base/units.h"

namespace keplerd {

inline constexpr std::size_t kMostSavedPlatforms = 16;

struct SavedPlatform {
  std::string zone;  // id
  std::optional<Nanoseconds> lag;
  WallLine::Memory wall;
};

}  // namespace keplerd
