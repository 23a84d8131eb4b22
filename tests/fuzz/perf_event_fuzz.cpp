// SPDX-License-Identifier: Apache-2.0
// The files of an energy event, "CONFIG", "SCALE", "UNIT" and "CPUMASK" on a line each. Whatever they
// contain: a configuration has 8 bits, CPUs are sorted and bounded, and a scaled count is never negative and
// never decreases.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/cpu_list.h"
#include "base/parse.h"
#include "energy/cpu/perf_events.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = keplerd::parse_event_config(keplerd::take_until(text, '\n'));
  if (config && *config > 0xff) std::abort();
  const auto scale_text = keplerd::take_until(text, '\n');
  const auto scale = keplerd::parse_count_scale(scale_text, keplerd::take_until(text, '\n'));
  if (scale) {
    if (scale->numerator <= 0 || scale->denominator <= 0) std::abort();
    keplerd::Microjoules last;
    for (int bit = 0; bit < 64; ++bit) {
      const auto energy = keplerd::scale_count(std::uint64_t{1} << bit, *scale);
      if (!energy) break;
      if (*energy < last) std::abort();
      last = *energy;
    }
  }
  if (const auto cpus = keplerd::parse_cpu_list(text)) {
    int last = -1;
    for (const int cpu : *cpus) {
      if (cpu <= last || cpu > 65535) std::abort();
      last = cpu;
    }
  }
  return 0;
}
