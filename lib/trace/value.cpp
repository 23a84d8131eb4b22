// SPDX-License-Identifier: Apache-2.0
#include "trace/value.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace keplerd {
namespace {

using Json = nlohmann::json;
using Kind = TraceValue::Kind;

// Receives the events of nlohmann's parser (nlohmann::json_sax). Each returns false to stop it.
class Builder {
 public:
  bool null() { return add({}); }
  bool boolean(bool value) { return add({.kind = Kind::kBoolean, .integer = value ? 1 : 0}); }
  bool number_integer(Json::number_integer_t value) {
    return add({.kind = Kind::kInteger, .integer = value});
  }
  bool number_unsigned(Json::number_unsigned_t value) {
    if (!std::in_range<std::int64_t>(value)) return add({.kind = Kind::kOther});
    return number_integer(static_cast<std::int64_t>(value));
  }
  bool number_float(Json::number_float_t, const std::string&) { return add({.kind = Kind::kOther}); }
  bool string(std::string& value) { return add({.kind = Kind::kText, .text = std::move(value)}); }
  bool binary(Json::binary_t&) { return false; }  // not in text

  bool start_object(std::size_t) { return begin(Kind::kObject); }
  bool start_array(std::size_t) { return begin(Kind::kList); }
  bool key(std::string& name) {
    open_.back().keys.push_back(std::move(name));
    return true;
  }
  bool end_object() { return finish(); }
  bool end_array() { return finish(); }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) { return false; }

  const char* refusal() const { return refusal_; }
  TraceValue take() { return std::move(root_); }

 private:
  bool refuse(const char* why) {
    refusal_ = why;
    return false;
  }

  bool begin(Kind kind) {
    if (open_.size() == kDeepestValue) return refuse("nested too deeply");
    open_.push_back({.kind = kind});
    return true;
  }

  bool finish() {
    TraceValue value = std::move(open_.back());
    open_.pop_back();
    return add(std::move(value));
  }

  bool add(TraceValue value) {
    if (++count_ > kMostValues) return refuse("too many values");
    if (open_.empty()) {
      root_ = std::move(value);
    } else {
      open_.back().items.push_back(std::move(value));
    }
    return true;
  }

  std::vector<TraceValue> open_;  // innermost last
  TraceValue root_;
  std::size_t count_ = 0;
  const char* refusal_ = "not JSON";
};

}  // namespace

const TraceValue* TraceValue::find(std::string_view key) const {
  const auto at = std::ranges::find(keys, key);
  if (at == keys.end()) return nullptr;
  const TraceValue& value = items[static_cast<std::size_t>(at - keys.begin())];
  return value.is(Kind::kNull) ? nullptr : &value;
}

Result<TraceValue> parse_trace_value(std::string_view line) {
  Builder builder;
  if (!Json::sax_parse(line, &builder)) return Error{builder.refusal()};
  return builder.take();
}

void append_item(std::string& list, const std::string& item) { list += (list.empty() ? "" : ",") + item; }

}  // namespace keplerd
