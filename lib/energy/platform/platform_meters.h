// SPDX-License-Identifier: Apache-2.0
// Meters of the whole platform (ACPI's) and of rails of its board: shown, but neither in the host's total nor
// divided, because what they measure overlaps the processors' meters.
#pragma once

#include <array>

#include "energy/hwmon.h"

namespace keplerd {

inline constexpr std::array kPlatformMeters = {HwmonQuery{.role = HwmonRole::kPlatform}};

}  // namespace keplerd
