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

// Append one value each.
void write_json(std::string& out, std::same_as<bool> auto flag) { out += flag ? "true" : "false"; }
void write_number(std::string& out, std::int64_t number);
void write_json(std::string& out, JsonNumber auto number) { write_number(out, number); }
void write_json(std::string& out, const Json& value);      // invalid UTF-8 becomes replacement characters
void write_text(std::string& out, std::string_view text);  // likewise
void write_json(std::string& out, const std::convertible_to<std::string_view> auto& text) {
  write_text(out, text);
}

// Writes an object: of each member, the name, after which the caller writes the value. It is complete when
// the writer is destroyed.
class ObjectWriter {
 public:
  // `out` must outlive the writer.
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }
  ~ObjectWriter() { out_ += '}'; }
  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;

  // `name`: one of ours, without characters that need escaping. Returns where the value is to be appended.
  std::string& member(std::string_view name) {
    out_ += is_first_ ? "\"" : ",\"";
    is_first_ = false;
    out_ += name;
    out_ += "\":";
    return out_;
  }

  // All members of this object, with names of ours, too.
  void members_of(const Json& object);

 private:
  std::string& out_;
  bool is_first_ = true;
};

// The same for an array.
class ArrayWriter {
 public:
  explicit ArrayWriter(std::string& out) : out_(out) { out_ += '['; }
  ~ArrayWriter() { out_ += ']'; }
  ArrayWriter(const ArrayWriter&) = delete;
  ArrayWriter& operator=(const ArrayWriter&) = delete;

  std::string& element() {
    if (!is_first_) out_ += ',';
    is_first_ = false;
    return out_;
  }

 private:
  std::string& out_;
  bool is_first_ = true;
};

}  // namespace keplerd::varlink
