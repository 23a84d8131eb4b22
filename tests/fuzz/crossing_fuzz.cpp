// SPDX-License-Identifier: Apache-2.0
// A line of the file of crossings that wait: refused, or the same when it is written and read again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "history/budget/waiting.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keplerd::history;
  const auto crossing = parse_crossing({reinterpret_cast<const char*>(data), size});
  if (!crossing) return 0;
  if (crossing->percent < 1 || crossing->percent > 100 || crossing->use.used.value < 0) std::abort();
  std::string line = crossing_line(*crossing);
  line.pop_back();  // its end
  const auto again = parse_crossing(line);
  if (!again || again->percent != crossing->percent || again->use.used != crossing->use.used ||
      again->use.period != crossing->use.period || again->use.budget.text != crossing->use.budget.text)
    std::abort();
  return 0;
}
