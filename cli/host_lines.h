// SPDX-License-Identifier: Apache-2.0
// Formats the host's power as one line a sample, in columns that stay where they are.
#pragma once

#include <optional>
#include <string>

#include "varlink/json_fwd.h"

namespace keplerd::cli {

class HostLines {
 public:
  // On a terminal of this width, the time is shown without its date if there is no room for it, and then
  // columns are left out. Unset: all columns are shown.
  explicit HostLines(std::optional<int> width);

  [[nodiscard]] std::string header() const;
  // `tick` is a reply of Monitor. A quality other than measured is in every line: the head of the screen may
  // have scrolled away.
  [[nodiscard]] std::string line(const varlink::Json& tick) const;

 private:
  bool dates_ = true;
  int columns_left_out_ = 0;
};

}  // namespace keplerd::cli
