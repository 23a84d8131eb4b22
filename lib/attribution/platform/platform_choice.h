// SPDX-License-Identifier: Apache-2.0
// Which zones measure the whole host, and which are parts of it. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "energy/zone.h"

namespace keplerd {

// The zones that cover the platform, best first: meters of other programs (management controllers, plugs),
// ACPI's, the battery, psys, which covers what the manufacturer has chosen. Among those of one kind the
// better quality, then the first. Several zones psys are none of the whole host.
std::vector<std::size_t> platform_zones(std::span<const Zone> zones);

bool is_psys(const Zone& zone);

// The parts of the platform that are measured apart: the zones of the host's total and graphics cards, each
// energy once. Empty if the total is not measured.
std::vector<std::size_t> platform_parts(std::span<const Zone> zones);

}  // namespace keplerd
