// SPDX-License-Identifier: Apache-2.0
#include "cli/output/json.h"

#include <fmt/format.h>

#include "base/text.h"
#include "varlink/json.h"

namespace keplerd::cli {

using varlink::Json;

namespace {

// Escapes as \uXXXX what is valid in JSON, but would be interpreted by a terminal. All such characters are
// below U+10000, and occur only within strings.
std::string escape_controls(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    const auto character = first_character(json);
    const std::size_t length = character ? character->length : 1;
    if (character && character->code_point >= 0x7f && !is_printable(character->code_point)) {
      out += fmt::format("\\u{:04x}", character->code_point);
    } else {
      out += json.substr(0, length);
    }
    json.remove_prefix(length);
  }
  return out;
}

}  // namespace

std::string json_text(const Json& value, JsonMode mode) {
  const int indent = mode == JsonMode::kPretty ? 4 : -1;
  return escape_controls(value.dump(indent, ' ', false, Json::error_handler_t::replace)) + "\n";
}

std::string framed_json_text(const Json& value, JsonMode mode, bool sequence) {
  return (sequence ? "\x1e" : "") + json_text(value, mode);
}

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
