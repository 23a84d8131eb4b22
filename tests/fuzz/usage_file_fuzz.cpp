// SPDX-License-Identifier: Apache-2.0
// A usage file, which belongs to whoever runs the program that writes it; then another one of the same
// program.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/parse.h"
#include "fuzz/shown_text.h"
#include "usage/usage_file.h"
#include "usage/use_counter.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace keplerd;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  UseCounter counter;
  while (!rest.empty()) {
    const auto reading = parse_usage_file(take_until(rest, '\0'));
    if (!reading) {
      check_shown(reading.error().message);
      continue;
    }
    if (reading->busy.size() > kMostUsers || reading->time < Nanoseconds{0}) std::abort();
    counter.take(*reading);
    const auto uses = counter.advance(reading->time);
    if (!uses) continue;
    Nanoseconds sum{0};
    for (const auto& [process, time] : *uses) {
      if (process.pid <= 0 || time <= Nanoseconds{0}) std::abort();
      sum += time;
    }
    if (sum < Nanoseconds{0}) std::abort();
  }
  return 0;
}
