// SPDX-License-Identifier: Apache-2.0
// Fields of a service's replies. A reply comes from another program, possibly of another version: a field
// that is absent, null or of another type is unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "varlink/json_fwd.h"

namespace keplerd::varlink {

// The field; a null value if there is none.
const Json& field(const Json& object, std::string_view name);

std::optional<std::int64_t> integer_field(const Json& object, std::string_view name);
std::optional<std::string> string_field(const Json& object, std::string_view name);
std::optional<bool> bool_field(const Json& object, std::string_view name);

}  // namespace keplerd::varlink
