// SPDX-License-Identifier: Apache-2.0
// Graphics cards: shown, not in the host's total, and divided by no model yet.
#pragma once

#include <array>

#include "energy/hwmon.h"

namespace keplerd {

inline constexpr std::array kGraphicsCards = {
    HwmonQuery{.role = HwmonRole::kGpu},
    // NVIDIA's, which keplerd-nvml writes there (docs/decisions/0017-nvidia-cards.md).
    HwmonQuery{.role = HwmonRole::kGpu, .directory = "run/keplerd-nvml"},
};

}  // namespace keplerd
