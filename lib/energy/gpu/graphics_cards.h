// SPDX-License-Identifier: Apache-2.0
// Graphics cards: shown, but not in the host's total and not divided by any model yet.
#pragma once

#include <array>

#include "energy/hwmon.h"

namespace keplerd {

inline constexpr std::array kGraphicsCards = {
    HwmonQuery{.role = HwmonRole::kGpu},
    // NVIDIA cards, as written there by keplerd-nvml (docs/decisions/0017-nvidia-cards.md).
    HwmonQuery{.role = HwmonRole::kGpu, .directory = "run/keplerd-nvml"},
};

}  // namespace keplerd
