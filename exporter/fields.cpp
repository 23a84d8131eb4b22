// SPDX-License-Identifier: Apache-2.0
#include "exporter/fields.h"

namespace keplerd::exporter {

using varlink::Json;

const Json& field(const Json& object, const char* name) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

std::optional<std::int64_t> integer(const Json& object, const char* name) {
  const Json& value = field(object, name);
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  return value.get<std::int64_t>();
}

std::string text(const Json& object, const char* name) {
  const Json& value = field(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool flag(const Json& object, const char* name) {
  const Json& value = field(object, name);
  return value.is_boolean() && value.get<bool>();
}

const Json& elements(const Json& value) {
  static const Json kNone = Json::array();
  return value.is_array() ? value : kNone;
}

}  // namespace keplerd::exporter
