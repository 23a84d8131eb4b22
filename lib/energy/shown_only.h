// SPDX-License-Identifier: Apache-2.0
// What is shown beside whatever meter the host has: platform/platform_meters.h and gpu/graphics_cards.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "energy/energy_source.h"

namespace keplerd {

class HostRoot;

// Those that `names` choose. None of it is in the total, and none is divided. Null where there is nothing.
std::unique_ptr<EnergySource> open_shown_only(const HostRoot& host, const std::vector<std::string>& names);

}  // namespace keplerd
