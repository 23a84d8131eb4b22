// SPDX-License-Identifier: Apache-2.0
// cost.conf: refused with one line, or a tariff with a price at all times or none.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "cost/load.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keplerd;
  const auto parsed = parse_tariff({reinterpret_cast<const char*>(data), size}, "f", {});
  const auto tariff = parsed ? finish_tariff(*parsed) : Result<Tariff>(parsed.error());
  if (!tariff) {
    if (!tariff.error().message.starts_with("f:") || tariff.error().message.find('\n') != std::string::npos)
      std::abort();
    return 0;
  }
  for (int hour = 0; hour < 7 * 24; ++hour) {
    const Rates rates = rates_at(*tariff, std::chrono::hours(hour));
    if (rates.price.has_value() != tariff->has_price()) std::abort();
    if (rates.price && rates.price->value < 0) std::abort();
  }
  return 0;
}
