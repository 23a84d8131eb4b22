// SPDX-License-Identifier: Apache-2.0
// Shows what is known about one thing, as "  Label: value" lines whose colons are aligned.
#pragma once

#include <string>
#include <string_view>

#include "cli/output/table.h"

namespace keplerd::cli {

class PropertyList {
 public:
  // Labels of up to `label_width` columns. Of the style, the width and whether names may be UTF-8 apply.
  PropertyList(int label_width, const TableStyle& style) : label_width_(label_width), style_(style) {}

  // A value that does not fit continues below its start; only at blanks, so that paths can be copied.
  void add(std::string_view label, std::string_view value);
  // On one line, however long: a command.
  void add_line(std::string_view label, std::string_view value);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  int label_width_;
  TableStyle style_;
  std::string text_;
};

}  // namespace keplerd::cli
