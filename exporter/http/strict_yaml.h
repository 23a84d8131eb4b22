// SPDX-License-Identifier: Apache-2.0
// Reads a YAML file strictly, for settings on which access depends: what parsers interpret differently is an
// error, and so is a key that is unknown, duplicated, empty or of another type. Errors are thrown as Wrong.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <yaml-cpp/yaml.h>

namespace keplerd::exporter::http {

struct Wrong {
  YAML::Mark place;
  std::string what;
};

[[noreturn]] void wrong(const YAML::Node& node, const std::string& what);

// Checks the text as a whole for what YAML parsers and readers interpret differently.
void check_characters(std::string_view text);
void refuse_second_document(const std::string& text);

std::string quoted(const std::string& key);

std::string text_of(const YAML::Node& node, const std::string& name);
std::vector<std::string> texts_of(const YAML::Node& node, const std::string& name);
bool flag_of(const YAML::Node& node, const std::string& name);

// Looks up `node` in a table of words.
template <class Value, std::size_t count>
Value one_of(const YAML::Node& node, const std::string& name,
             const std::array<std::pair<std::string_view, Value>, count>& words) {
  const std::string text = text_of(node, quoted(name));
  for (const auto& [word, value] : words) {
    if (text == word) return value;
  }
  wrong(node, quoted(name) + " cannot be " + quoted(text) + " here");
}

using Visitor = std::function<void(const std::string& key, const YAML::Node& place, const YAML::Node& value)>;

// Calls `visitor` for each key of the mapping `name` (empty: the file). A duplicate key is an error.
void visit_keys(const YAML::Node& map, const std::string& name, const Visitor& visitor);

// `name`, found at `place`, is not empty.
void check_content(const YAML::Node& place, const std::string& name, const YAML::Node& value);

using Setter = std::function<void(const YAML::Node& value)>;

// Calls the setter of each key of `map`; fails at the first key that has none.
void take_keys(const YAML::Node& map, const std::string& name, const std::map<std::string, Setter>& setters);

}  // namespace keplerd::exporter::http
