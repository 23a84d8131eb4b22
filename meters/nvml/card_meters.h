// SPDX-License-Identifier: Apache-2.0
// Graphics cards as meters. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "meters/meter_writer.h"
#include "meters/nvml/nvml.h"

namespace keplerd::nvml {

// As read at `boottime`, in microseconds. In the order of their bus ids, which are the names of their
// directories: cards with another name are left out.
std::vector<meters::Meter> card_meters(const std::vector<Card>& cards, std::int64_t boottime);

}  // namespace keplerd::nvml
