// SPDX-License-Identifier: Apache-2.0
// Amounts as administrators write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace keplerd {

// systemd.time(7) spans: "1s", "500ms", "1min 30s", "2h", "0"; a bare number is seconds, and may have a
// fraction. Rounded down to whole nanoseconds. Nothing where the text is something else, or the span longer
// than 292 years.
std::optional<Nanoseconds> parse_time_span(std::string_view text);
// The shortest such span: "1min 30s", "500ms", "0". `span` must not be negative.
std::string format_time_span(Nanoseconds span);

// "10J", "2.5 kJ", "1Wh", "0.1kWh", "500mJ", "3uJ"; a bare number is joules. Rounded down to whole
// microjoules.
std::optional<Microjoules> parse_energy(std::string_view text);
// In the largest unit of which it is a whole multiple: "10J", "2500J", "1kJ", "3uJ", "0". Must not be
// negative.
std::string format_energy(Microjoules energy);

}  // namespace keplerd
