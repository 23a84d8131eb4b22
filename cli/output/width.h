// SPDX-License-Identifier: Apache-2.0
// Computes the number of columns of a text on a terminal. Names are always UTF-8, whatever the locale.
#pragma once

#include <optional>
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

// Breaks lines longer than `width` at blanks, where there are any. Unset: nothing is broken. Escape sequences
// of colours take no columns.
std::string wrap_words(std::string_view text, std::optional<int> width);

// Escapes non-ASCII characters as \xHH, for terminals whose locale is not UTF-8.
std::string ascii(std::string_view text);

// shorten(), in ASCII alone without `unicode`.
std::string fit(std::string_view text, int width, Keep keep, bool unicode);

}  // namespace keplerd::cli
