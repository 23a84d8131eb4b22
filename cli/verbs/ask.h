// SPDX-License-Identifier: Apache-2.0
// What the verbs that ask keplerd have in common.
#pragma once

#include "cli/context.h"
#include "client/requests.h"

namespace keplerd::cli {

// Says why keplerd cannot be reached, and where help is.
int fail_to_connect(const Context& context, const Error& error);

// With --no-legend a table has no place for it, yet numbers that are not measured must not be taken for
// measured.
void warn_without_legend(const Context& context, const varlink::Json& status);

// One list, as a table or as JSON.
int show_list(const Context& context, client::Kind kind);

}  // namespace keplerd::cli
