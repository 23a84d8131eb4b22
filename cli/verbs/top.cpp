// SPDX-License-Identifier: Apache-2.0
// The live screen; without a suitable terminal, prints the list of the same kind once.
#include "cli/top/live.h"
#include "cli/verb.h"
#include "cli/verbs/ask.h"

namespace keplerd::cli {

int run_top(const Context& context) {
  const std::string kind = context.options.kind.empty() ? "processes" : context.options.kind;
  if (context.wants_json() || !context.terminal.is_terminal || !top::can_go_live()) {
    return show_list(context, client::find_kind(kind)->kind);
  }
  return top::go_live(context, kind);
}

}  // namespace keplerd::cli
