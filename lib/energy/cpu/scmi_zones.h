// SPDX-License-Identifier: Apache-2.0
// What the directories of the powercap control type arm-scmi mean. Its zones tell power (`power_uw`), and
// their names and tree are the firmware's (the kernel's drivers/powercap/arm_scmi_powercap.c). No I/O.
#pragma once

#include <string_view>
#include <vector>

#include "energy/cpu/powercap_zones.h"

namespace keplerd {

bool is_scmi_zone(std::string_view directory);

// Whether a firmware's name is that of a processor: it has "cpu", "soc", "pkg", "package" or "cluster" in it,
// in any case of letters.
bool names_processor(std::string_view name);

// Of each branch of the tree the topmost zone that names a processor is a "package", in the total and
// modelled. Zones inside it keep their names; all others are shown and not divided, because nothing tells
// what they measure. Those in the total first.
std::vector<PowercapZone> scmi_zones(const std::vector<PowercapDirectory>& directories);

}  // namespace keplerd
