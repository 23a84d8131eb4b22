// SPDX-License-Identifier: Apache-2.0
// Fields of the daemon's replies, and how they are shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "varlink/fields.h"

namespace keplerd::cli {

using varlink::bool_field;
using varlink::field;
using varlink::integer_field;
using varlink::Json;
using varlink::string_field;

// As shown to people: "-" (or an empty text, for names) where not known; names are made safe for a terminal.
std::string power_text(const Json& object, std::string_view name);
std::string energy_text(const Json& object, std::string_view name);
std::string time_text(const Json& object, std::string_view name);
std::string date_text(const Json& object, std::string_view name);
std::string name_text(const Json& object, std::string_view name);

// How much of one processor keplerd itself took in the last window; unset where that is not known.
std::optional<double> own_cpu_percent(const Json& status);

// What the daemon sent, safe for a terminal: where it is not printable it is escaped as \xHH. The daemon's
// own escapes stay as they are, so that an id can be copied from the screen.
std::string printable(std::string_view text);

// Any value on one line.
std::string json_line(const Json& value);

}  // namespace keplerd::cli
