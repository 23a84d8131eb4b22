// SPDX-License-Identifier: Apache-2.0
// A state file as an earlier version has written it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace keplerd {

// `text` without each part that begins with `first`, up to and including the next `last`.
inline std::string without(std::string text, std::string_view first, std::string_view last) {
  for (std::size_t at; (at = text.find(first)) != std::string::npos;)
    text.erase(at, text.find(last, at) + last.size() - at);
  return text;
}

}  // namespace keplerd
