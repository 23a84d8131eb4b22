// SPDX-License-Identifier: Apache-2.0
// Any configuration file is either refused with one line, or its meaning can be formatted and parsed again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "config/load.h"
#include "config/settings_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto settings = keplerd::parse_settings(text, "fuzz.conf", {});
  if (!settings) {
    const auto& message = settings.error().message;
    if (!message.starts_with("fuzz.conf:") || message.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  const auto again = keplerd::parse_settings(keplerd::format_settings(*settings), "again.conf", {});
  if (!again || !(*again == *settings)) std::abort();
  return 0;
}
