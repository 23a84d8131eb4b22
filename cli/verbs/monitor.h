// SPDX-License-Identifier: Apache-2.0
// The verb "monitor" with another clock, for tests.
#pragma once

#include "cli/context.h"
#include "cli/follow.h"

namespace keplerd::cli {

int follow_daemon(const Context& context, Follow::Clock clock);
// For --output=waybar and i3blocks.
int follow_for_bar(const Context& context, Follow::Clock clock);

}  // namespace keplerd::cli
