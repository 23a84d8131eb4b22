// SPDX-License-Identifier: Apache-2.0
// Sections and keys of a configuration file, in order: what all files of keplerd have in common. Pure.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"

namespace keplerd {

// What to do with what the file says. Errors are without the file and the line.
struct IniHandler {
  std::function<Result<Done>(std::string_view section)> section;
  // `section` is empty above the first one; `line` is counted from 1.
  std::function<Result<Done>(std::string_view section, std::string_view key, std::string_view value,
                             int line)>
      key;
};

// Stops at the first error, whose message is one line: "FILE:LINE: what is wrong".
Result<Done> parse_ini(std::string_view text, std::string_view file, const IniHandler& handler);

}  // namespace keplerd
