// SPDX-License-Identifier: Apache-2.0
// The power over a period as a graph.
#pragma once

#include <string>
#include <vector>

#include "cli/output/table.h"
#include "varlink/json_fwd.h"

namespace keplerd::cli::history {

// `spans`: one after the other, with "fromUsec", "toUsec", "recordedUsec" and "energyMicrojoules"; not empty.
// If there are more than fit, neighbours are combined. Where nothing is recorded, nothing is drawn.
std::string power_graph(const std::vector<varlink::Json>& spans, const TableStyle& style);

}  // namespace keplerd::cli::history
