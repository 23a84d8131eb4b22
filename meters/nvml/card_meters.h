// SPDX-License-Identifier: Apache-2.0
// Graphics cards as meters. Pure.
#pragma once

#include <vector>

#include "meters/meter_writer.h"
#include "meters/nvml/nvml.h"

namespace keplerd::nvml {

// In the order of their bus ids, which are the names of their directories: cards with another name are left
// out.
std::vector<meters::Meter> card_meters(const std::vector<Card>& cards);

}  // namespace keplerd::nvml
