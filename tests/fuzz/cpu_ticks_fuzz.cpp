// SPDX-License-Identifier: Apache-2.0
// Accepted ticks are non-negative, interrupts are part of the busy ones, and their total does not overflow.
// Lines of CPUs are sorted, each once.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "usage/cpu_ticks.h"

namespace {

void check(const keplerd::CpuTicks& ticks) {
  if (ticks.busy < 0 || ticks.idle < 0 || ticks.interrupts < 0) std::abort();
  if (ticks.interrupts > ticks.busy) std::abort();
  if (ticks.busy + ticks.idle < ticks.busy) std::abort();  // the total does not overflow
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto fields = keplerd::parse_cpu_fields(text)) check(keplerd::add_up(*fields));
  std::vector<keplerd::CpuLine> lines;
  keplerd::parse_cpu_lines(text, lines);
  int last = -1;
  for (const keplerd::CpuLine& line : lines) {
    if (line.number <= last) std::abort();
    last = line.number;
    check(keplerd::add_up(line.fields));
  }
  return 0;
}
