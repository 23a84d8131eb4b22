// SPDX-License-Identifier: Apache-2.0
// Meters shown in addition to the host's meter: platform/platform_meters.h and gpu/graphics_cards.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "energy/energy_source.h"

namespace keplerd {

class HostRoot;

// Opens those that `names` choose. None of them is in the total or divided. Null if there are none.
std::unique_ptr<EnergySource> open_shown_only(const HostRoot& host, const std::vector<std::string>& names);

}  // namespace keplerd
