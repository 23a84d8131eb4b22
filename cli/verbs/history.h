// SPDX-License-Identifier: Apache-2.0
// What the verbs history and report have in common.
#pragma once

#include "cli/context.h"
#include "cli/history/period.h"
#include "varlink/json_fwd.h"

namespace keplerd::cli {

history::Time history_now();

// Prints why a reply has no costs, if cost.conf has an error.
void warn_of_rates(const Context& context, const varlink::Json& reply);

}  // namespace keplerd::cli
