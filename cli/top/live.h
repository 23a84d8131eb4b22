// SPDX-License-Identifier: Apache-2.0
// The live screen on a terminal, with ncurses. All its logic is in state.h and screen.h.
#pragma once

#include "cli/context.h"

namespace keplerd::cli::top {

// Whether standard input and output are a terminal on which a screen can be painted.
bool can_go_live();

// Shows `kind` until the user quits, a signal requests the end (kFine) or the connection to the daemon is
// lost (kFailed, with a message). The terminal is restored in any case.
int go_live(const Context& context, std::string_view kind);

}  // namespace keplerd::cli::top
