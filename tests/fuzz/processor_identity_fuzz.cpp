// SPDX-License-Identifier: Apache-2.0
// The number of logical CPUs on a line, then /proc/cpuinfo. Whatever it contains: what is typical of the
// processor has at least one core and at most as many as there are CPUs, and its idle power is positive and
// below its full power.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/parse.h"
#include "energy/cpu/typical_power.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const int threads = keplerd::parse_number<int>(keplerd::take_until(text, '\n')).value_or(1);
  const auto power = keplerd::typical_power(keplerd::parse_processor_identity(text), threads);
  if (!power) return 0;
  if (power->cores < 1 || power->cores > threads) std::abort();
  if (power->idle <= keplerd::Microwatts{} || power->idle >= power->max) std::abort();
  return 0;
}
