// SPDX-License-Identifier: Apache-2.0
// Graphics cards as meters. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "meters/meter_writer.h"
#include "meters/nvml/nvml.h"
#include "meters/usage_writer.h"

namespace keplerd::nvml {

// As read at `boottime`, in microseconds. In the order of their bus ids, which are the names of their
// directories: cards with another name are left out.
std::vector<meters::Meter> card_meters(const std::vector<Card>& cards, std::int64_t boottime);

// When the process with this pid was started, in clock ticks since the boot; 0: it is not known any more.
using StartOf = std::function<std::uint64_t(std::int32_t pid)>;

// Adds what the processes have used the cards in the time `elapsed` since the last reading. Returns the texts
// of their usage files, by PCI address.
std::map<std::string, std::string> card_uses(const std::vector<Card>& cards, Nanoseconds elapsed,
                                             const StartOf& start_of, meters::DeviceUses& uses);

}  // namespace keplerd::nvml
