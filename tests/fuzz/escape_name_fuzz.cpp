// SPDX-License-Identifier: Apache-2.0
// Every name can be escaped and recovered, and an escaped name is plain UTF-8 text that stays legible when it
// is escaped again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "../base/unescape_name.h"
#include "base/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view name(reinterpret_cast<const char*>(data), size);
  const std::string escaped = keplerd::escape_name(name);
  if (keplerd::unescape_name(escaped) != name) std::abort();
  if (keplerd::is_plain_name(name) != (escaped == name)) std::abort();
  for (const char c : escaped) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) std::abort();
  }
  return 0;
}
