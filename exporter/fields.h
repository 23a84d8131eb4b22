// SPDX-License-Identifier: Apache-2.0
// Fields of keplerd's replies, with what stands for one that is not known.
#pragma once

#include <string>

#include "varlink/fields.h"
#include "varlink/json.h"

namespace keplerd::exporter {

using varlink::field;
using varlink::integer_field;

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
