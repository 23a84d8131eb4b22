// SPDX-License-Identifier: Apache-2.0
// An accepted time span or amount of energy is non-negative, and its formatted text parses to the same
// value.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "config/time_span.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto span = keplerd::parse_time_span(text)) {
    if (span->count() < 0 || keplerd::parse_time_span(keplerd::format_time_span(*span)) != span) std::abort();
  }
  if (const auto energy = keplerd::parse_energy(text)) {
    if (energy->value < 0 || keplerd::parse_energy(keplerd::format_energy(*energy)) != energy) std::abort();
  }
  return 0;
}
