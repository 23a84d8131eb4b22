// SPDX-License-Identifier: Apache-2.0
#include "varlink/parse_json.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "varlink/message.h"

namespace keplerd::varlink {
namespace {

// Receives the events of nlohmann's parser (nlohmann::json_sax). Each returns false to stop it.
class Builder {
 public:
  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(Json::number_integer_t value) { return add(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return add(value); }
  bool number_float(Json::number_float_t value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(value); }
  bool binary(Json::binary_t&) { return false; }  // not in text

  bool start_object(std::size_t) { return open(); }
  bool start_array(std::size_t) { return open(); }
  bool key(std::string& name) {
    const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(open_.back().begin);
    if (values_.end() - begin == kMaxFields) return refuse();
    const auto same =
        std::find_if(begin, values_.end(), [&](const Value& field) { return field.first == name; });
    if (same != values_.end()) values_.erase(same);
    key_ = name;
    return true;
  }
  bool end_object() {
    const auto begin = close();
    Json object = Json::object();
    auto& fields = object.get_ref<Json::object_t&>();
    fields.reserve(static_cast<std::size_t>(values_.end() - begin));
    for (auto field = begin; field != values_.end(); ++field)
      fields.emplace_back(std::move(field->first), std::move(field->second));
    return replace(begin, std::move(object));
  }
  bool end_array() {
    const auto begin = close();
    Json array = Json::array();
    auto& elements = array.get_ref<Json::array_t&>();
    elements.reserve(static_cast<std::size_t>(values_.end() - begin));
    for (auto element = begin; element != values_.end(); ++element)
      elements.push_back(std::move(element->second));
    return replace(begin, std::move(array));
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) { return false; }

  bool is_out_of_bounds() const { return out_of_bounds_; }  // and therefore refused
  Json take() { return std::move(values_.front().second); }

 private:
  using Value = std::pair<std::string, Json>;  // with the name of the field; in an array it means nothing
  struct Open {
    std::size_t begin;  // of its values
    std::string name;   // its own
  };

  bool open() {
    if (open_.size() == kMaxDepth) return refuse();
    open_.push_back({values_.size(), std::move(key_)});
    key_.clear();
    return true;
  }

  std::vector<Value>::iterator close() {
    key_ = std::move(open_.back().name);
    const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(open_.back().begin);
    open_.pop_back();
    return begin;
  }

  bool replace(std::vector<Value>::iterator begin, Json value) {
    values_.erase(begin, values_.end());
    return add(std::move(value));
  }

  bool add(Json value) {
    values_.emplace_back(std::move(key_), std::move(value));
    key_.clear();
    return true;
  }

  bool refuse() {
    out_of_bounds_ = true;
    return false;
  }

  std::vector<Value> values_;  // of everything that is open, innermost last
  std::vector<Open> open_;
  std::string key_;
  bool out_of_bounds_ = false;
};

}  // namespace

Result<Json> parse_json(std::string_view text) {
  Builder builder;
  if (Json::sax_parse(text, &builder)) return builder.take();
  return builder.is_out_of_bounds() ? Error{"a message is nested too deeply or has too many fields"}
                                    : Error{"a message is not JSON"};
}

}  // namespace keplerd::varlink
