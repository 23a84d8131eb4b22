// SPDX-License-Identifier: Apache-2.0
// What the live screen is made of: lines of styled text. What a style looks like is the terminal's business.
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

// `text`, which is printable, in at most `width` columns. Without `unicode` what is not ASCII is escaped as
// \xHH.
std::string fit(std::string_view text, int width, Keep keep, bool unicode);

// The same, filled with blanks to exactly `width` columns.
std::string pad_left(std::string_view text, int width, Keep keep, bool unicode);
std::string pad_right(std::string_view text, int width, Keep keep, bool unicode);

// `text` in pieces of at most `width` columns.
std::vector<std::string> wrap(std::string_view text, int width, bool unicode);

// The line in at most `width` columns; spans beyond are cut.
Line clip(Line line, int width, bool unicode);

// The text alone, without blanks at its end.
std::string text_of(const Line& line);

}  // namespace keplerd::cli::top
