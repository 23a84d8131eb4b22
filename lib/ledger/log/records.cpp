// SPDX-License-Identifier: Apache-2.0
#include "ledger/log/records.h"

#include "ledger/state_checks.h"

namespace keplerd {
namespace {

constexpr std::size_t kFrame = 4;  // of the length, and of the checksum

void put_frame(std::uint32_t value, char* at) {
  for (std::size_t i = 0; i < kFrame; ++i) at[i] = static_cast<char>(value >> (8 * i));
}

std::uint32_t get_frame(const char* at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < kFrame; ++i)
    value |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(at[i])) << (8 * i);
  return value;
}

// FNV-1a.
std::uint32_t checksum(std::string_view bytes) {
  std::uint32_t sum = 2166136261U;
  for (const char c : bytes) sum = (sum ^ static_cast<std::uint8_t>(c)) * 16777619U;
  return sum;
}

}  // namespace

void begin_record(std::string& record, RecordKind kind) {
  record.assign(kFrame, '\0');
  record.push_back(static_cast<char>(kind));
}

void finish_record(std::string& record) {
  const std::string_view payload = std::string_view(record).substr(kFrame);
  const std::uint32_t sum = checksum(payload);
  put_frame(static_cast<std::uint32_t>(payload.size()), record.data());
  record.append(kFrame, '\0');
  put_frame(sum, record.data() + record.size() - kFrame);
}

std::optional<std::string_view> RecordReader::next() {
  if (rest_.size() < 2 * kFrame) return std::nullopt;
  const std::size_t length = get_frame(rest_.data());
  if (rest_.size() - 2 * kFrame < length) return std::nullopt;
  const std::string_view payload = rest_.substr(kFrame, length);
  if (checksum(payload) != get_frame(payload.data() + length)) throw Malformed{"a checksum does not match"};
  rest_.remove_prefix(length + 2 * kFrame);
  return payload;
}

}  // namespace keplerd
