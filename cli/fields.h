// SPDX-License-Identifier: Apache-2.0
// Fields of the daemon's replies, and their display form.
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

// Display form: "-" (or an empty text, for names) if unknown; names are made safe for a terminal.
std::string power_text(const Json& object, std::string_view name);
// The same of a power that may be negative.
std::string signed_power_text(const Json& object, std::string_view name);
std::string energy_text(const Json& object, std::string_view name);
std::string time_text(const Json& object, std::string_view name);
std::string date_text(const Json& object, std::string_view name);
std::string clock_text(const Json& object, std::string_view name);
std::string name_text(const Json& object, std::string_view name);
// Half the width of the 95 % interval of a row's active energy, as a part of it: "9%". Empty if it is
// unknown.
std::string error_text(const Json& row);
// The energy in this field as a share of `whole`: "12.30%".
std::string share_text(const Json& object, std::string_view name, std::optional<std::int64_t> whole);

// The share of one processor that keplerd itself used in the last window; unset if unknown.
std::optional<double> own_cpu_percent(const Json& status);

}  // namespace keplerd::cli
