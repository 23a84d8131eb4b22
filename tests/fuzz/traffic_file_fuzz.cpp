// SPDX-License-Identifier: Apache-2.0
// A usage file of a memory, which belongs to whoever runs the program that writes it; then another one of the
// same program.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/parse.h"
#include "fuzz/shown_text.h"
#include "usage/traffic_counter.h"
#include "usage/traffic_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace keplerd;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  TrafficCounter counter;
  std::optional<TrafficReading> last;  // that was not ignored
  while (!rest.empty()) {
    const auto reading = parse_traffic_file(take_until(rest, '\0'));
    if (!reading) {
      check_shown(reading.error().message);
      continue;
    }
    const auto again = parse_traffic_file(traffic_text(*reading));
    if (!again || *again != *reading || reading->groups.size() > kMostMeasuredGroups) std::abort();
    counter.take(*reading);
    if (!last || reading->time > last->time) last = *reading;
    const auto traffic = counter.advance(reading->time);
    if (!traffic) continue;
    Bytes groups;
    for (const auto& [group, bytes] : traffic->groups) {
      if (bytes < Bytes{} || !last->groups.contains(group)) std::abort();
      groups += bytes;
    }
    if (groups < Bytes{} || groups > traffic->all) std::abort();
  }
  return 0;
}
