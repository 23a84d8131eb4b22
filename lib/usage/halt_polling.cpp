// SPDX-License-Identifier: Apache-2.0
#include "usage/halt_polling.h"

#include <array>
#include <string_view>

#include "base/parse.h"
#include "host/host_root.h"

namespace keplerd {
namespace {

constexpr std::string_view kDirectory = "kernel/debug/kvm";

std::optional<Nanoseconds> read_time(int sysfs, const std::string& path) {
  std::array<char, 32> buffer;
  const auto text = read_file(sysfs, path.c_str(), buffer);
  if (!text) return std::nullopt;
  const auto time = parse_number<std::int64_t>(trim(*text));
  if (!time || *time < 0) return std::nullopt;
  return Nanoseconds(*time);
}

}  // namespace

void HaltPolling::refresh() {
  directories_.clear();
  const auto names = list_subdirectories(host_.sysfs(), std::string(kDirectory).c_str());
  if (!names) return;
  for (const std::string& name : *names) {
    std::string_view rest = name;
    const auto pid = parse_number<std::int32_t>(take_until(rest, '-'));
    if (pid) directories_.emplace(*pid, std::string(kDirectory) + "/" + name + "/");
  }
}

std::optional<Nanoseconds> HaltPolling::read(std::int32_t pid) const {
  std::optional<Nanoseconds> sum;
  const auto [begin, end] = directories_.equal_range(pid);
  for (auto entry = begin; entry != end; ++entry) {
    for (const char* const file : {"halt_poll_success_ns", "halt_poll_fail_ns"}) {
      const auto time = read_time(host_.sysfs(), entry->second + file);
      if (!time) return std::nullopt;
      sum = sum.value_or(Nanoseconds{0}) + *time;
    }
  }
  return sum;
}

}  // namespace keplerd
