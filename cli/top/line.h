// SPDX-License-Identifier: Apache-2.0
// The building blocks of the live screen: lines of styled text. The terminal decides how a style looks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/output/width.h"

namespace keplerd::cli::top {

enum class Style { kPlain, kBold, kDim, kSelected, kWarning, kBad, kGraph };

struct Span {
  std::string text;
  Style style = Style::kPlain;
};
using Line = std::vector<Span>;

// Of the terminal, in columns and lines.
struct Size {
  int width = 80;
  int height = 24;
};

// fit(), padded with blanks to exactly `width` columns.
std::string pad_left(std::string_view text, int width, Keep keep, bool unicode);
std::string pad_right(std::string_view text, int width, Keep keep, bool unicode);

// Splits `text` into pieces of at most `width` columns.
std::vector<std::string> wrap(std::string_view text, int width, bool unicode);

// Limits the line to `width` columns; spans beyond are cut.
Line clip(Line line, int width, bool unicode);

// The text alone, without trailing blanks.
std::string text_of(const Line& line);

}  // namespace keplerd::cli::top
