// SPDX-License-Identifier: Apache-2.0
// Accept and Accept-Encoding: whatever a client sends, one of the formats is chosen; and a client that names
// only OpenMetrics gets it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "exporter/http/negotiation.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keplerd::exporter;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Format format = http::choose_format(text);
  if (format != Format::kText && format != Format::kOpenMetrics) std::abort();
  const bool zipped = http::accepts_gzip(text);
  // Repeating the header changes nothing, except after an open quote.
  if (text.find('"') == text.npos) {
    const std::string twice = std::string(text) + "," + std::string(text);
    if (http::choose_format(twice) != format || http::accepts_gzip(twice) != zipped) std::abort();
  }
  return 0;
}
