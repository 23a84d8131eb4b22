// SPDX-License-Identifier: Apache-2.0
#include "exporter/fields.h"

namespace keplerd::exporter {

using varlink::Json;

std::string text(const Json& object, const char* name) {
  return varlink::string_field(object, name).value_or("");
}

bool flag(const Json& object, const char* name) { return varlink::bool_field(object, name).value_or(false); }

const Json& elements(const Json& value) {
  static const Json kNone = Json::array();
  return value.is_array() ? value : kNone;
}

}  // namespace keplerd::exporter
