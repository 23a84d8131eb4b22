// SPDX-License-Identifier: Apache-2.0
#include "cli/verb.h"
#include "cli/verbs/ask.h"

namespace keplerd::cli {

int run_vms(const Context& context) { return show_list(context, client::Kind::kVms); }

}  // namespace keplerd::cli
