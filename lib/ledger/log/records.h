// SPDX-License-Identifier: Apache-2.0
// The records of a write-ahead log: a 4-byte length, so many bytes, and their 4-byte checksum, both little
// endian. The last one may be cut off, by a kill in the middle of a write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace keplerd {

// The first byte of a record. kWhole is the first sample of a run, with all rows that there are.
// 1 to 3 were those of versions without errors, and without idle energy that is placed.
enum class RecordKind : std::uint8_t { kSavePoint = 4, kSample = 5, kWhole = 6 };

// What `record` has up to here is dropped; what is appended until it is finished is in the record.
void begin_record(std::string& record, RecordKind kind);
void finish_record(std::string& record);

class RecordReader {
 public:
  explicit RecordReader(std::string_view log) : rest_(log) {}

  // What the next one holds, its kind first. Unset at the end, and where the rest is cut off. Throws
  // Malformed.
  std::optional<std::string_view> next();

  // What is left of the log.
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
};

}  // namespace keplerd
