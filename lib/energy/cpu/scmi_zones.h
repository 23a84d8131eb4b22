// SPDX-License-Identifier: Apache-2.0
// Interprets the directories of the powercap control type arm-scmi. Its zones report power (`power_uw`);
// names and hierarchy come from the firmware (the kernel's drivers/powercap/arm_scmi_powercap.c). No
// I/O.
#pragma once

#include <string_view>
#include <vector>

#include "energy/cpu/powercap_zones.h"

namespace keplerd {

bool is_scmi_zone(std::string_view directory);

// Whether a firmware's name denotes a processor: it contains "cpu", "soc", "pkg", "package" or "cluster", in
// any case of letters.
bool names_processor(std::string_view name);

// In each branch of the tree, the topmost zone whose name denotes a processor is a "package", in the total
// and modelled. Zones inside it keep their names; all others are shown but not divided, because nothing
// documents what they measure. Zones in the total come first.
std::vector<PowercapZone> scmi_zones(const std::vector<PowercapDirectory>& directories);

}  // namespace keplerd
