// SPDX-License-Identifier: Apache-2.0
// Formats the live screen as lines of text. Pure.
#pragma once

#include <vector>

#include "cli/top/line.h"
#include "cli/top/state.h"

namespace keplerd::cli::top {

// At most `state.size.height` lines of at most `state.size.width` columns.
std::vector<Line> draw(const State& state);

// How many rows of the list, or lines of the details, fit.
int list_room(const State& state);
int details_room(const State& state);

// The fields of the row whose details are shown.
std::vector<std::string> details_lines(const State& state);

}  // namespace keplerd::cli::top
