// SPDX-License-Identifier: Apache-2.0
#include "client/fields.h"

#include <algorithm>

#include "base/text.h"
#include "varlink/json.h"
#include "varlink/json_text.h"

namespace keplerd::client {

using varlink::Json;

std::string text(const Json& object, std::string_view name) {
  return string_field(object, name).value_or("");
}

bool flag(const Json& object, std::string_view name) { return bool_field(object, name).value_or(false); }

const Json& elements(const Json& value) {
  static const Json kNone = Json::array();
  return value.is_array() ? value : kNone;
}

std::string printable(std::string_view text) {
  // escape_name() would escape an escape's backslash as well; the parts between backslashes have none.
  std::string out;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find('\\', start), text.size());
    out += escape_name(text.substr(start, end - start));
    if (end < text.size()) out += '\\';
    start = end + 1;
  }
  return out;
}

std::string json_line(const Json& value) { return varlink::to_text(value); }

}  // namespace keplerd::client
