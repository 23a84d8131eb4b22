// SPDX-License-Identifier: Apache-2.0
// JSON that is written as text at once, for replies with thousands of rows: building values of nlohmann-json
// and writing them afterwards takes several times as long.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "varlink/json_fwd.h"

namespace keplerd::varlink {

// What fits into 64 bits with a sign.
template <class T>
concept JsonNumber = std::integral<T> && !std::same_as<T, bool> &&
                     (std::signed_integral<T> || sizeof(T) < sizeof(std::int64_t));

// Invalid UTF-8 becomes replacement characters.
std::string to_text(const Json& value);

// Append one value each.
void write_json(std::string& out, std::same_as<bool> auto flag) { out += flag ? "true" : "false"; }
void write_number(std::string& out, std::int64_t number);
void write_json(std::string& out, JsonNumber auto number) { write_number(out, number); }
void write_json(std::string& out, const Json& value);      // invalid UTF-8 becomes replacement characters
void write_text(std::string& out, std::string_view text);  // likewise
void write_json(std::string& out, const std::convertible_to<std::string_view> auto& text) {
  write_text(out, text);
}

// Writes an array, whose elements the caller writes in turn. It is complete when the writer is destroyed.
class ArrayWriter {
 public:
  // `out` must outlive the writer.
  explicit ArrayWriter(std::string& out) : ArrayWriter(out, '[', ']') {}
  ~ArrayWriter() { out_ += end_; }
  ArrayWriter(const ArrayWriter&) = delete;
  ArrayWriter& operator=(const ArrayWriter&) = delete;

  // Returns where the next element is to be appended.
  std::string& element() { return begin_next("", ","); }

 protected:
  ArrayWriter(std::string& out, char begin, char end) : out_(out), end_(end) { out_ += begin; }

  // What the first element, or any later one, begins with: one append, because there are very many.
  std::string& begin_next(std::string_view first, std::string_view later) {
    out_ += is_first_ ? first : later;
    is_first_ = false;
    return out_;
  }

 private:
  std::string& out_;
  char end_;
  bool is_first_ = true;
};

// The same for an object: of each member, it writes the name, and the caller the value.
class ObjectWriter : private ArrayWriter {
 public:
  explicit ObjectWriter(std::string& out) : ArrayWriter(out, '{', '}') {}

  // `name`: one of ours, without characters that need escaping. Returns where the value is to be appended.
  std::string& member(std::string_view name) {
    std::string& out = begin_next("\"", ",\"");
    out += name;
    out += "\":";
    return out;
  }

  // All members of this object, with names of ours, too.
  void members_of(const Json& object);
};

}  // namespace keplerd::varlink
