// SPDX-License-Identifier: Apache-2.0
// Computes the number of columns of a text on a terminal. Ignores the locale: names are always UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace keplerd::cli {

// Columns of `text`, which is printable UTF-8: East Asian wide characters and emoji take two, combining ones
// none.
int display_width(std::string_view text);

// Which end of an overlong text is kept.
enum class Keep { kStart, kEnd };

// Shortens `text` to at most `width` columns, with "…" in place of the rest. The start of a name is the most
// informative, but the end of a path.
std::string shorten(std::string_view text, int width, Keep keep);

}  // namespace keplerd::cli
