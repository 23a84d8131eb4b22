// SPDX-License-Identifier: Apache-2.0
// The files of a meter directory, which belong to whoever runs the meter: six texts, separated by NULs.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/parse.h"
#include "base/pci_address.h"
#include "energy/meters/meter_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace keplerd;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::array<std::string_view, 6> texts;
  for (std::string_view& text : texts) text = take_until(rest, '\0');
  const auto meter =
      describe_meter({.covers = std::string(texts[0]),
                      .quality = std::string(texts[1]),
                      .name = std::string(texts[2]),
                      .energy = std::string(texts[3]),
                      .device = texts[5].empty() ? std::nullopt : std::optional(std::string(texts[5]))});
  if (meter && (!is_meter_name(meter->name) || meter->quality == Quality::kSimulated)) std::abort();
  if (meter && !meter->device.empty() && pci_address(meter->device) != meter->device) std::abort();
  const auto reading = parse_meter_reading(texts[3], texts[4]);
  if (reading && (reading->value < 0 || reading->time < Nanoseconds{0})) std::abort();
  return 0;
}
