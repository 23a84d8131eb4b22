// SPDX-License-Identifier: Apache-2.0
// Verbs with --host.
#pragma once

#include "cli/context.h"
#include "cli/verb.h"

namespace keplerd::cli {

// Runs a verb that accepts --host on these hosts, and shows the results as one. Fails if a host has failed;
// the others are shown.
int run_on_hosts(const Context& context, const Verb& verb);

}  // namespace keplerd::cli
