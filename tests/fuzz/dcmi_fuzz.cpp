// SPDX-License-Identifier: Apache-2.0
// The reply of a management controller: power is an amount that DCMI can express, or there is none.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "meters/ipmi/dcmi.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto power = keplerd::ipmi::parse_dcmi_power({data, size});
  if (power && (power->value < 0 || power->value > 65'535'000'000)) std::abort();
  if (!power && power.error().message.empty()) std::abort();
  return 0;
}
