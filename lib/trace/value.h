// SPDX-License-Identifier: Apache-2.0
// The JSON of a line of a trace, as far as traces have it: integers, texts, lists and objects. Bounded in
// depth and in the number of values, so that time and memory are bounded by the length of the line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace keplerd {

inline constexpr std::size_t kDeepestValue = 8;
inline constexpr std::size_t kMostValues = 1'000'000;

struct TraceValue {
  enum class Kind {
    kNull,
    kBoolean,
    kInteger,
    kText,
    kList,
    kObject,
    kOther
  };  // kOther: no integer of 64 bits
  Kind kind = Kind::kNull;
  std::int64_t integer = 0;  // of a boolean: 0 or 1
  std::string text;
  std::vector<TraceValue> items;  // of a list or an object
  std::vector<std::string> keys;  // of an object's items

  bool is(Kind other) const { return kind == other; }
  // Of an object; null if it has no such item, or a null. For objects with few items.
  const TraceValue* find(std::string_view key) const;
};

Result<TraceValue> parse_trace_value(std::string_view line);

// Appends an item to the text of a list or an object, which has no brackets yet.
void append_item(std::string& list, const std::string& item);

}  // namespace keplerd
