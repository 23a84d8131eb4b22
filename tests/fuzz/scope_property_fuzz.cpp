// SPDX-License-Identifier: Apache-2.0
// An accepted property of `keplerctl run -p` has a name and a value that the manager can take; a refused one,
// a message that can be printed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "cli/run/properties.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keplerd::cli::run;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto property = parse_property(text);
  if (!property) {
    const auto& message = property.error().message;
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (std::ranges::any_of(message, is_control)) std::abort();
    return 0;
  }
  if (property->name.empty()) std::abort();
  const auto* const cpus = std::get_if<Bytes>(&property->value);
  if (cpus != nullptr && (cpus->empty() || cpus->back() == 0)) std::abort();
  const auto* const number = std::get_if<std::int32_t>(&property->value);
  if (number != nullptr && *number <= 0) std::abort();  // of a signal
  return 0;
}
