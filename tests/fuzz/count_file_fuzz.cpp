// SPDX-License-Identifier: Apache-2.0
// A usage file of what the hardware counts, which belongs to whoever runs the program that writes it; then
// another one of the same program.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/parse.h"
#include "fuzz/shown_text.h"
#include "usage/count_file.h"
#include "usage/window_counter.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace keplerd;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  WindowCounter counter;
  std::optional<CountReading> last;  // that was not ignored
  while (!rest.empty()) {
    const auto reading = parse_count_file(take_until(rest, '\0'));
    if (!reading) {
      check_shown(reading.error().message);
      continue;
    }
    const auto again = parse_count_file(count_text(*reading));
    if (!again || *again != *reading || reading->groups.size() > kMostMeasuredGroups) std::abort();
    counter.take(*reading);
    if (!last || reading->time > last->time) last = *reading;
    const auto counts = counter.advance(reading->time);
    if (!counts) continue;
    Count groups;
    for (const auto& [group, count] : counts->groups) {
      if (count < Count{} || !last->groups.contains(group)) std::abort();
      groups += count;
    }
    if (groups < Count{} || groups > counts->all) std::abort();
  }
  return 0;
}
