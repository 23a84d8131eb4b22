// SPDX-License-Identifier: Apache-2.0
// Fields of keplerd's replies: readers with a default for a field that is not known (absent, null or of
// another type), and what keplerd sent as safe text. Pure.
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

std::string text(const varlink::Json& object, std::string_view name);  // empty where it is not known
bool flag(const varlink::Json& object, std::string_view name);         // false where it is not known

// The value if it is an array, otherwise an empty array.
const varlink::Json& elements(const varlink::Json& value);

// What keplerd sent, safe for a terminal and a log: bytes that are not printable are escaped as \xHH.
// keplerd's own escapes stay as they are, so that an id can be copied from the screen.
std::string printable(std::string_view text);

// Any value on one line.
std::string json_line(const varlink::Json& value);

}  // namespace keplerd::client
