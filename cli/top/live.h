// SPDX-License-Identifier: Apache-2.0
// The live screen on a terminal, with ncurses. All its logic is in state.h and screen.h.
#pragma once

#include "cli/context.h"

namespace keplerd::cli::top {

// Whether standard input and output are a terminal on which a screen can be painted.
bool can_go_live();

// Shows `kind` until the user quits or a signal requests the end (kFine); kFailed, with a message, if keplerd
// cannot be reached at the start, or the terminal not be used. The terminal is restored in any case.
int go_live(const Context& context, std::string_view kind);

}  // namespace keplerd::cli::top
