// SPDX-License-Identifier: Apache-2.0
// Parses a duration as Go writes it (pkg.go.dev/time, ParseDuration): "1m30s", "1.5h", "100ms", "0". Pure.
#pragma once

#include <optional>
#include <string_view>

#include "base/units.h"

namespace keplerd::exporter::http {

// Not negative, and at most a day.
std::optional<Nanoseconds> parse_go_duration(std::string_view text);

}  // namespace keplerd::exporter::http
