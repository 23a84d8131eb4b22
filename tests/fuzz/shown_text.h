// SPDX-License-Identifier: Apache-2.0
// What is taken from elsewhere to be shown.
#pragma once

#include <cstdlib>
#include <string>

#include "base/text.h"

namespace keplerd {

// Aborts unless `text` is printable, and of at most 255 bytes before it was escaped.
inline void check_shown(std::string text) {
  if (text.size() > 4 * 255) std::abort();
  std::erase(text, '\\');  // our own escapes, of which escape_name would escape some again
  if (!is_plain_name(text)) std::abort();
}

// A name, which is never empty.
inline void check_name(const std::string& name) {
  if (name.empty()) std::abort();
  check_shown(name);
}

}  // namespace keplerd
