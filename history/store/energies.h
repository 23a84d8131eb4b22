// SPDX-License-Identifier: Apache-2.0
// What the workloads drew in a span, as one value in the database: a year of hours of thousands of workloads
// has tens of millions of amounts, which are too many for rows of their own. Packing and unpacking is pure.
//
// The format (keplerd-history(8)): for each workload, in the order of their numbers, three integers: its
// number less that of the one before it, its active and its idle energy. An integer takes seven bits of each
// byte, the lowest first; the highest bit is set in all but its last byte (LEB128).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "history/reading.h"
#include "history/store/database.h"

namespace keplerd::history {

using Energies = std::map<std::int64_t, Amounts>;  // by the number of the workload

struct NumberedAmounts {
  std::int64_t workload = 0;
  Amounts amounts;
};

// No number or amount may be negative.
std::string pack(const Energies& energies);

// Unpacks one after the other. The bytes must outlive it.
class Unpacker {
 public:
  explicit Unpacker(std::string_view packed) : at_(packed.data()), end_(packed.data() + packed.size()) {}

  bool is_at_end() const { return at_ == end_; }
  // Throws DatabaseError if the bytes are not what pack() returns, or an integer does not fit.
  NumberedAmounts next() {
    const std::int64_t step = integer();
    if (step <= 0 || step > std::numeric_limits<std::int64_t>::max() - last_) fail();
    last_ += step;
    const std::int64_t active = integer();
    return {last_, {{active}, {integer()}}};
  }

 private:
  std::int64_t integer() {
    constexpr unsigned kBits = 7, kLastShift = 63 - kBits;
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift <= kLastShift && at_ != end_; shift += kBits) {
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0) return static_cast<std::int64_t>(value);
    }
    fail();
  }
  [[noreturn]] static void fail();

  const char* at_;
  const char* end_;
  std::int64_t last_ = 0;
};

void add_packed(Energies& energies, std::string_view packed);

// Of a span; nothing if no workload drew.
std::string packed_energies(Database& database, std::int64_t span);
void save_energies(Database& database, std::int64_t span, const Energies& energies);

}  // namespace keplerd::history
