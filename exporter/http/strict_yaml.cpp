// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/strict_yaml.h"

#include <cstdint>
#include <set>
#include <sstream>
#include <vector>

#include <yaml-cpp/eventhandler.h>

#include "base/text.h"

namespace keplerd::exporter::http {
namespace {

// Where the documents of a file begin.
class DocumentStarts : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& place) override { places.push_back(place); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
  }
  void OnMapEnd() override {}

  std::vector<YAML::Mark> places;
};

// The type of a plain scalar (yaml.org/spec/1.2.2, 10.3.2). As in YAML 1.1, "yes" and "no" are
// booleans.
bool is_flag_or_number(const YAML::Node& node) {
  if (node.Tag() != "?") return false;
  bool flag = false;
  double number = 0;
  std::int64_t integer = 0;
  return YAML::convert<bool>::decode(node, flag) || YAML::convert<double>::decode(node, number) ||
         YAML::convert<std::int64_t>::decode(node, integer);
}

bool is_text(const YAML::Node& node) {
  if (!node.IsScalar()) return false;
  const std::string& tag = node.Tag();  // "?": plain, "!": in quotes
  if (tag == "?") return !is_flag_or_number(node) && node.Scalar() != "<<";
  return tag == "!" || tag == "tag:yaml.org,2002:str";
}

}  // namespace

void wrong(const YAML::Node& node, const std::string& what) { throw Wrong{node.Mark(), what}; }

void check_characters(std::string_view text) {
  constexpr std::uint32_t kByteOrderMark = 0xfeff;
  YAML::Mark place;
  for (bool first = true; !text.empty(); first = false) {
    const auto character = first_character(text);
    const bool newline = text.starts_with('\n') || text.starts_with("\r\n");
    const bool blank = newline || text.starts_with('\t');
    const bool readable = character && is_printable(character->code_point) &&
                          (first || character->code_point != kByteOrderMark);
    if (!blank && !readable) throw Wrong{place, "only printable UTF-8 is allowed here"};
    if (text.starts_with('\n')) ++place.line;
    text.remove_prefix(character->length);
  }
}

// YAML::Load() ignores all but the first; YAML::LoadAll() finds an endless document in ", ".
void refuse_second_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStarts starts;
  while (starts.places.size() < 2 && parser.HandleNextDocument(starts)) {
  }
  if (starts.places.size() > 1) throw Wrong{starts.places[1], "a second document begins here"};
}

std::string text_of(const YAML::Node& node, const std::string& name) {
  if (!is_text(node)) wrong(node, name + " is not text (text can be put in quotes)");
  return node.Scalar();
}

std::string quoted(const std::string& key) { return "'" + key + "'"; }

void visit_keys(const YAML::Node& map, const std::string& name, const Visitor& visitor) {
  const std::string shown = name.empty() ? "the file" : quoted(name);
  if (!map.IsMap() || (map.Tag() != "?" && map.Tag() != "tag:yaml.org,2002:map")) {
    wrong(map, shown + " is not a mapping");
  }
  std::set<std::string> seen;
  for (const auto& entry : map) {
    const std::string key = text_of(entry.first, "a key of " + shown);
    const std::string full = quoted(name.empty() ? key : name + "." + key);
    if (!seen.insert(key).second) wrong(entry.first, "duplicate key " + full);
    visitor(key, entry.first, entry.second);
  }
}

void check_content(const YAML::Node& place, const std::string& name, const YAML::Node& value) {
  const bool empty_map = value.IsMap() && value.size() == 0;
  if (value.IsNull() || empty_map) wrong(place, quoted(name) + " is empty");
}

void take_keys(const YAML::Node& map, const std::string& name, const std::map<std::string, Setter>& setters) {
  visit_keys(map, name, [&](const std::string& key, const YAML::Node& place, const YAML::Node& value) {
    const std::string full = name.empty() ? key : name + "." + key;
    const auto setter = setters.find(key);
    if (setter == setters.end()) wrong(place, "unknown key " + quoted(full));
    check_content(place, full, value);
    setter->second(value);
  });
}

bool flag_of(const YAML::Node& node, const std::string& name) {
  const std::string text = node.IsScalar() && node.Tag() == "?" ? node.Scalar() : "";
  if (text == "true") return true;
  if (text != "false") wrong(node, quoted(name) + " is neither true nor false");
  return false;
}

std::vector<std::string> texts_of(const YAML::Node& node, const std::string& name) {
  if (!node.IsSequence()) wrong(node, quoted(name) + " is not a list");
  std::vector<std::string> texts;
  for (const auto& entry : node) texts.push_back(text_of(entry, "an entry of " + quoted(name)));
  return texts;
}

}  // namespace keplerd::exporter::http
