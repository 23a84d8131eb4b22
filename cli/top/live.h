// SPDX-License-Identifier: Apache-2.0
// The live screen on a terminal, by ncurses. All that it decides is in state.h and screen.h.
#pragma once

#include "cli/context.h"

namespace keplerd::cli::top {

// Standard input and output are a terminal on which a screen can be painted.
bool can_go_live();

// Shows `kind` until the user quits, a signal asks for the end (kFine) or the daemon is lost (kFailed, with a
// message). The terminal is as it was in any case.
int go_live(const Context& context, std::string_view kind);

}  // namespace keplerd::cli::top
