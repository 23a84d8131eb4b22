// SPDX-License-Identifier: Apache-2.0
#include "varlink/fields.h"

#include <limits>

#include "varlink/json.h"

namespace keplerd::varlink {

const Json& field(const Json& object, std::string_view name) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(std::string(name));
  return found == object.end() ? kNull : *found;
}

std::optional<std::int64_t> integer_field(const Json& object, std::string_view name) {
  const Json& value = field(object, name);
  if (!value.is_number_integer()) return std::nullopt;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > kMost) return std::nullopt;
  return value.get<std::int64_t>();
}

std::optional<std::string> string_field(const Json& object, std::string_view name) {
  const Json& value = field(object, name);
  if (!value.is_string()) return std::nullopt;
  return value.get<std::string>();
}

std::optional<bool> bool_field(const Json& object, std::string_view name) {
  const Json& value = field(object, name);
  if (!value.is_boolean()) return std::nullopt;
  return value.get<bool>();
}

}  // namespace keplerd::varlink
