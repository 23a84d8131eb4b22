// SPDX-License-Identifier: Apache-2.0
// A file of intensities: refused with its line, or values in order, one per time, none of them negative.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "cost/intensities.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using keplerd::Intensity;
  const auto list = keplerd::parse_intensities({reinterpret_cast<const char*>(data), size});
  if (!list) {
    const std::string& message = list.error().message;
    const auto digits = message.find_first_not_of("0123456789");
    if (digits == 0 || message.compare(digits, 2, ": ") != 0 || message.find('\n') != message.npos)
      std::abort();
    return 0;
  }
  const auto not_after = [](const Intensity& a, const Intensity& b) { return a.start >= b.start; };
  if (std::ranges::adjacent_find(*list, not_after) != list->end()) std::abort();
  for (const Intensity& one : *list)
    if (one.of_kwh.value < 0) std::abort();
  return 0;
}
