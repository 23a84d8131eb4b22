// SPDX-License-Identifier: Apache-2.0
// Numbers and texts as bytes, and back: for what only this program on this machine reads again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ledger/state_checks.h"

namespace keplerd {

class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(out) {}

  void byte(std::uint8_t value) { out_.push_back(static_cast<char>(value)); }

  // Seven bits a byte, the lowest first; small ones, negative ones too, take little room.
  void number(std::int64_t value) {
    auto left = (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
    for (; left >= 0x80; left >>= 7) byte(static_cast<std::uint8_t>(left | 0x80));
    byte(static_cast<std::uint8_t>(left));
  }

  void text(std::string_view value) {
    number(static_cast<std::int64_t>(value.size()));
    out_ += value;
  }

 private:
  std::string& out_;
};

// Throws Malformed where the bytes end too early, or are no such number.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  bool is_at_end() const { return rest_.empty(); }

  std::uint8_t byte() {
    if (rest_.empty()) throw Malformed{"cut off"};
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }

  std::int64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t next = byte();
      value |= static_cast<std::uint64_t>(next & 0x7f) << shift;
      if (next < 0x80) return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
    }
    throw Malformed{"a number is too long"};
  }

  // That is no less than 0 and in the range of energies and times (state.cpp).
  std::int64_t amount() {
    const std::int64_t value = number();
    if (value < 0 || value > std::int64_t{1} << 60) throw Malformed{"a number is out of range"};
    return value;
  }

  // How many follow, each of at least a byte.
  std::size_t count() {
    const std::int64_t value = number();
    if (value < 0 || static_cast<std::uint64_t>(value) > rest_.size()) throw Malformed{"cut off"};
    return static_cast<std::size_t>(value);
  }

  std::string text() {
    const std::size_t size = count();
    std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }

 private:
  std::string_view rest_;
};

}  // namespace keplerd
