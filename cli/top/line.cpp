// SPDX-License-Identifier: Apache-2.0
#include "cli/top/line.h"

#include <algorithm>

namespace keplerd::cli::top {
namespace {

constexpr std::string_view kEllipsis = "…";

std::string blanks(int count) { return std::string(static_cast<std::size_t>(std::max(count, 0)), ' '); }

}  // namespace

std::string pad_left(std::string_view text, int width, Keep keep, bool unicode) {
  const std::string cell = fit(text, width, keep, unicode);
  return blanks(width - display_width(cell)) + cell;
}

std::string pad_right(std::string_view text, int width, Keep keep, bool unicode) {
  const std::string cell = fit(text, width, keep, unicode);
  return cell + blanks(width - display_width(cell));
}

std::vector<std::string> wrap(std::string_view text, int width, bool unicode) {
  std::string rest = unicode ? std::string(text) : ascii(text);
  std::vector<std::string> pieces;
  while (display_width(rest) > width) {
    // What shorten() keeps before its ellipsis. Two extra columns, so that there always is an
    // ellipsis.
    std::string piece = shorten(rest + "  ", width + 1, Keep::kStart);
    piece.resize(piece.size() - std::min(piece.size(), kEllipsis.size()));
    if (piece.empty()) return pieces;  // not even one character fits
    pieces.push_back(piece);
    rest.erase(0, piece.size());
  }
  pieces.push_back(rest);
  return pieces;
}

Line clip(Line line, int width, bool unicode) {
  int left = width;
  for (Span& span : line) {
    if (display_width(span.text) > left) span.text = fit(span.text, left, Keep::kStart, unicode);
    left -= display_width(span.text);
  }
  std::erase_if(line, [](const Span& span) { return span.text.empty(); });
  return line;
}

std::string text_of(const Line& line) {
  std::string out;
  for (const Span& span : line) out += span.text;
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

}  // namespace keplerd::cli::top
