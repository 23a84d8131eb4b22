// SPDX-License-Identifier: Apache-2.0
#include "usage/cgroup_files.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/parse.h"
#include "base/text.h"
#include "host/kept_file.h"

namespace keplerd {
namespace {

bool has_type(int directory, const char* path, std::string_view type) {
  std::array<char, 32> buffer;
  const auto text = read_record(directory, (std::string(path) + "/cgroup.type").c_str(), buffer);
  return text && trim(*text) == type;
}

}  // namespace

Result<Nanoseconds> parse_cpu_stat(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (take_word(line) != "usage_usec") continue;
    const auto usec = parse_number<std::int64_t>(trim(line));
    constexpr std::int64_t kMost = INT64_MAX / 1000;  // so that nanoseconds fit: 292 years of one CPU
    if (!usec || *usec < 0 || *usec > kMost) break;
    return Nanoseconds(std::chrono::microseconds(*usec));
  }
  return Error{"cpu.stat: no usage_usec"};
}

Result<std::optional<Nanoseconds>> parse_cpu_max(std::string_view text) {
  using Limit = std::optional<Nanoseconds>;
  constexpr std::int64_t kMostPeriod = 1'000'000;  // us, as in the kernel
  constexpr std::int64_t kMostCpus = 8192;         // so that nanoseconds fit
  const std::string_view quota_text = take_word(text);
  const auto period = parse_number<std::int64_t>(trim(text));
  if (!period || *period <= 0 || *period > kMostPeriod) return Error{"cpu.max: no period"};
  if (quota_text == "max") return Limit();
  const auto quota = parse_number<std::int64_t>(quota_text);
  if (!quota || *quota < 0) return Error{"cpu.max: no quota"};
  const auto limit = std::min(*quota, kMostCpus * *period) * Nanoseconds(std::chrono::seconds(1)) / *period;
  return Limit(std::chrono::duration_cast<std::chrono::microseconds>(limit));  // traces have no less
}

Result<std::optional<std::int64_t>> parse_memory_max(std::string_view text) {
  using Limit = std::optional<std::int64_t>;
  if (trim(text) == "max") return Limit();
  const auto bytes = parse_number<std::int64_t>(trim(text));
  if (!bytes || *bytes < 0) return Error{"memory.max: no number of bytes"};
  return Limit(*bytes);
}

bool parse_populated(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (take_word(line) == "populated") return trim(line) == "1";
  }
  return false;
}

Result<bool> read_populated(int directory) {
  std::array<char, 256> buffer;
  const auto text = read_record(directory, "cgroup.events", buffer);
  if (!text) return text.error();
  return parse_populated(*text);
}

bool shows_empty(const Result<bool>& populated) {
  return populated ? !*populated : !is_shortage(populated.error());
}

bool is_threaded(int directory, const char* path) { return has_type(directory, path, "threaded"); }

bool may_have_threaded(int directory, const char* path) { return !has_type(directory, path, "domain"); }

}  // namespace keplerd
