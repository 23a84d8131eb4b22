// SPDX-License-Identifier: Apache-2.0
// Fields of the daemon's replies, and how they are shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/fields.h"

namespace keplerd::cli {

using client::bool_field;
using client::field;
using client::integer_field;
using client::json_line;
using client::printable;
using client::string_field;
using varlink::Json;

// As shown to people: "-" (or an empty text, for names) where not known; names are made safe for a terminal.
std::string power_text(const Json& object, std::string_view name);
std::string energy_text(const Json& object, std::string_view name);
std::string time_text(const Json& object, std::string_view name);
std::string date_text(const Json& object, std::string_view name);
std::string name_text(const Json& object, std::string_view name);

// How much of one processor keplerd itself took in the last window; unset where that is not known.
std::optional<double> own_cpu_percent(const Json& status);

}  // namespace keplerd::cli
