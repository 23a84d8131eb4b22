// SPDX-License-Identifier: Apache-2.0
// The live screen as its tests see it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/sample_replies.h"
#include "cli/top/screen.h"

namespace keplerd::cli::top {

using Texts = std::vector<std::string>;

State on(Size size, std::string_view kind);  // times are in UTC
State shown(Size size, std::string_view kind, std::vector<Json> rows, const Json& status = measured_status());
Texts texts(const State& state);  // line by line, each within the screen
std::string joined(const Texts& lines);
Key letter(const char* text);

}  // namespace keplerd::cli::top
