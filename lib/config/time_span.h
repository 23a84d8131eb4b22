// SPDX-License-Identifier: Apache-2.0
// Amounts as administrators write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace keplerd {

// systemd.time(7) spans: "1s", "500ms", "1min 30s", "2h", "0"; a bare number is seconds, and may have a fraction.
std::optional<Nanoseconds> parse_time_span(std::string_view text);
// The shortest such span: "1min 30s", "500ms", "0".
std::string format_time_span(Nanoseconds span);

// "10J", "2.5 kJ", "1Wh", "0.1kWh", "500mJ", "3uJ"; a bare number is joules.
std::optional<Microjoules> parse_energy(std::string_view text);

}  // namespace keplerd
