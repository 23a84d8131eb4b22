// SPDX-License-Identifier: Apache-2.0
// What the kernel's counters of groups read (Documentation/filesystems/resctrl.rst). Pure.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace keplerd::resctrl {

// mbm_total_bytes and mbm_local_bytes, bytes since some start: "123\n". The hardware counts 24 to 62 bits;
// the kernel adds up what wraps. Fails with what the kernel says instead: "Error", "Unavailable",
// "Unassigned"; and if it is anything else.
Result<Count> parse_bytes(std::string_view text);

// core_energy, joules since some start, with decimals: "123.456789\n". Returns microjoules, rounded down.
// Fails likewise.
Result<Count> parse_joules(std::string_view text);

}  // namespace keplerd::resctrl
