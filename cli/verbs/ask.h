// SPDX-License-Identifier: Apache-2.0
// Functions shared by the verbs that query keplerd.
#pragma once

#include "cli/context.h"
#include "client/requests.h"

namespace keplerd::cli {

// Reports why keplerd cannot be reached, and where to find help.
int fail_to_connect(const Context& context, const Error& error);

// Where there is no room for a label, on standard error.
void warn_unless_measured(const Context& context, const varlink::Json& status);

// With --no-legend a table has no room for it, yet numbers that are not measured must not be mistaken for
// measurements.
void warn_without_legend(const Context& context, const varlink::Json& status);

// Prints one list, as a table or as JSON.
int show_list(const Context& context, client::Kind kind);

}  // namespace keplerd::cli
