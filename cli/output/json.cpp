// SPDX-License-Identifier: Apache-2.0
#include "cli/output/json.h"

namespace keplerd::cli {

using varlink::Json;

std::string json_text(const Json& value, JsonMode mode) {
  const int indent = mode == JsonMode::kPretty ? 4 : -1;
  return value.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string json_sequence_text(const Json& value, JsonMode mode) { return "\x1e" + json_text(value, mode); }

Json status_json(Json status) {
  if (!status.is_object() || !status.contains("source") || !status["source"].is_object()) return status;
  Json& source = status["source"];
  Json complete = Json::object();
  for (const char* name : {"name", "quality", "reason"}) {
    complete[name] = source.contains(name) ? source[name] : Json();
  }
  for (const auto& [name, value] : source.items()) complete[name] = value;
  source = std::move(complete);
  return status;
}

}  // namespace keplerd::cli
