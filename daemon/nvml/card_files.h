// SPDX-License-Identifier: Apache-2.0
// Publishes graphics cards' meters as files in hwmon's layout, for keplerd to read (lib/energy/hwmon.h):
// CARD/name, CARD/device, CARD/energy1_input or CARD/power1_input.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "daemon/nvml/nvml.h"

namespace keplerd::nvml {

// Writes them below `directory`, replacing each file atomically, and removes those of cards that are gone.
Result<Done> write_cards(const std::string& directory, const std::vector<Card>& cards);

}  // namespace keplerd::nvml
