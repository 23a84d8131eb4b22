// SPDX-License-Identifier: Apache-2.0
#include "cli/output/property_list.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "cli/output/width.h"

namespace keplerd::cli {

void PropertyList::add(std::string_view label, std::string_view value) {
  constexpr int kColon = 2;
  constexpr int kLeastWidth = 16;  // of a value: less would be one word a line
  const int indent = label_width_ + kColon;
  std::optional<int> room;
  if (style_.width) room = std::max(*style_.width - indent, kLeastWidth);
  std::string lines;
  for (const char c : wrap_words(value, room)) {
    lines += c;
    if (c == '\n') lines.append(static_cast<std::size_t>(indent), ' ');
  }
  add_line(label, lines);
}

void PropertyList::add_line(std::string_view label, std::string_view value) {
  // Labels, too: metadata has names that others choose.
  const std::string line = fmt::format("{:>{}}: {}\n", label, label_width_, value);
  text_ += style_.unicode ? line : ascii(line);
}

}  // namespace keplerd::cli
