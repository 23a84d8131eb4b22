// SPDX-License-Identifier: Apache-2.0
// What the kernel's counters of memory bandwidth read: mbm_total_bytes and mbm_local_bytes of resctrl
// (Documentation/filesystems/resctrl.rst). Pure.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace keplerd::resctrl {

// Bytes since some start: "123\n". The hardware counts 24 to 62 bits; the kernel adds up what wraps. Fails
// with what the kernel says instead: "Error", "Unavailable", "Unassigned"; and if it is anything else.
Result<Bytes> parse_counter(std::string_view text);

}  // namespace keplerd::resctrl
