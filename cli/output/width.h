// SPDX-License-Identifier: Apache-2.0
// How many columns a text takes on a terminal. Does not ask the locale: names are UTF-8 whatever it says.
#pragma once

#include <string>
#include <string_view>

namespace keplerd::cli {

// Columns of `text`, which is printable UTF-8: East Asian wide characters and emoji take two, combining ones
// none.
int display_width(std::string_view text);

// Which end of a text that is too long is kept.
enum class Keep { kStart, kEnd };

// `text` in at most `width` columns, with "…" in place of what had to go. The start of a name tells most, but
// the end of a path.
std::string shorten(std::string_view text, int width, Keep keep);

}  // namespace keplerd::cli
