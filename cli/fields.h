// SPDX-License-Identifier: Apache-2.0
// Fields of the daemon's replies. A reply comes from another program, perhaps of another version: a field
// that is absent, null or of another type is not known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "varlink/json.h"

namespace keplerd::cli {

using varlink::Json;

// The field; a null value where there is none.
const Json& field(const Json& object, std::string_view name);

std::optional<std::int64_t> integer_field(const Json& object, std::string_view name);
std::optional<std::string> string_field(const Json& object, std::string_view name);
std::optional<bool> bool_field(const Json& object, std::string_view name);

// As shown to people: "-" (or an empty text, for names) where not known; names are made safe for a terminal.
std::string power_text(const Json& object, std::string_view name);
std::string energy_text(const Json& object, std::string_view name);
std::string time_text(const Json& object, std::string_view name);
std::string date_text(const Json& object, std::string_view name);
std::string name_text(const Json& object, std::string_view name);

// What the daemon sent, safe for a terminal: where it is not printable it is escaped as \xHH. The daemon's
// own escapes stay as they are, so that an id can be copied from the screen.
std::string printable(std::string_view text);

// Any value on one line.
std::string json_line(const Json& value);

}  // namespace keplerd::cli
