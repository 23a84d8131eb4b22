// SPDX-License-Identifier: Apache-2.0
// What the verbs history and report have in common.
#pragma once

#include <optional>

#include "base/result.h"
#include "cli/context.h"
#include "cli/history/period.h"
#include "cli/wall.h"
#include "varlink/json_fwd.h"

namespace keplerd::cli {

history::Time history_now();

// Prints why a reply has no costs, if cost.conf has an error.
void warn_of_rates(const Context& context, const varlink::Json& reply);

// As wanted_wall() has it, of keplerd, which is asked for it.
Result<std::optional<Wall>> todays_wall(const Context& context);

}  // namespace keplerd::cli
