// SPDX-License-Identifier: Apache-2.0
// Fields of keplerd's replies. They come from another program, perhaps of another version: a field that is
// absent, null or of another type is not known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "varlink/json.h"

namespace keplerd::exporter {

// The field; a null value where there is none.
const varlink::Json& field(const varlink::Json& object, const char* name);

std::optional<std::int64_t> integer(const varlink::Json& object, const char* name);
std::string text(const varlink::Json& object, const char* name);  // empty where it is not known
bool flag(const varlink::Json& object, const char* name);         // false where it is not known

// An array or an object as it is; anything else has no elements.
const varlink::Json& elements(const varlink::Json& value);

// Names and values of an object; of anything else none.
inline auto items(const varlink::Json& value) {
  static const varlink::Json kNone = varlink::Json::object();
  return (value.is_object() ? value : kNone).items();
}

}  // namespace keplerd::exporter
