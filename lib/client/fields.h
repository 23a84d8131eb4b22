// SPDX-License-Identifier: Apache-2.0
// Reads fields of keplerd's replies, with a default for an unknown field (absent, null or of another type),
// and makes text from keplerd safe to display. Pure.
#pragma once

#include <string>
#include <string_view>

#include "varlink/fields.h"
#include "varlink/json_fwd.h"

namespace keplerd::client {

using varlink::bool_field;
using varlink::field;
using varlink::integer_field;
using varlink::string_field;

std::string text(const varlink::Json& object, std::string_view name);  // empty if not known
bool flag(const varlink::Json& object, std::string_view name);         // false if not known

// The value if it is an array, otherwise an empty array.
const varlink::Json& elements(const varlink::Json& value);

// Text from keplerd made safe for a terminal and a log: bytes that are not printable are escaped as \xHH.
// keplerd's own escapes stay as they are, so that an id can be copied from the screen.
std::string printable(std::string_view text);

// Formats any value on one line.
std::string json_line(const varlink::Json& value);

}  // namespace keplerd::client
