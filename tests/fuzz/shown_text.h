// SPDX-License-Identifier: Apache-2.0
// Checks of foreign text that is meant for display.
#pragma once

#include <cstdlib>
#include <string>

#include "base/text.h"

namespace keplerd {

// Aborts unless `text` is printable, and at most 255 bytes before escaping.
inline void check_shown(std::string text) {
  if (text.size() > 4 * 255) std::abort();
  std::erase(text, '\\');  // our own escapes, some of which escape_name would escape again
  if (!is_plain_name(text)) std::abort();
}

// A name, which is never empty.
inline void check_name(const std::string& name) {
  if (name.empty()) std::abort();
  check_shown(name);
}

}  // namespace keplerd
