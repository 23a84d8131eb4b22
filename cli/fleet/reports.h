// SPDX-License-Identifier: Apache-2.0
// One report of the energy of several hosts. Pure.
#pragma once

#include <vector>

#include "cli/fleet/replies.h"
#include "varlink/json.h"

namespace keplerd::cli::fleet {

// Adds the reports up to one of the same form (history/output.h shows it), whose rows name their hosts. Rows
// and accounts add up to the energy. There are costs if all hosts have the same currency, and emissions if
// all know them. A host whose amounts are impossible becomes one with a problem.
varlink::Json report_json(std::vector<Reply>& replies);

}  // namespace keplerd::cli::fleet
