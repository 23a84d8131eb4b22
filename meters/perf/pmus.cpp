// SPDX-License-Identifier: Apache-2.0
#include "meters/perf/pmus.h"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/cpu_list.h"
#include "base/parse.h"
#include "host/host_root.h"

namespace keplerd::perf {
namespace {

constexpr char kDevices[] = "bus/event_source/devices";

// Empty if it cannot be read.
std::string_view text_of(const HostRoot& host, const std::string& name, const char* file,
                         std::span<char> buffer) {
  const auto text = read_file(host.sysfs(), fmt::format("{}/{}/{}", kDevices, name, file).c_str(), buffer);
  return text ? trim(*text) : std::string_view();
}

}  // namespace

Pmus pmus_of_cpus(const HostRoot& host) {
  Pmus pmus;
  const auto names = list_directory(host.sysfs(), kDevices);
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    if (!name.starts_with("cpu_")) continue;
    std::array<char, 4096> buffer;
    const auto type = parse_number<std::uint32_t>(text_of(host, name, "type", buffer));
    if (!type) continue;
    const std::uint32_t number = *type;
    const auto cpus = parse_cpu_list(text_of(host, name, "cpus", buffer));
    for (const int cpu : cpus.value_or(std::vector<int>())) pmus[cpu] = number;
  }
  return pmus;
}

}  // namespace keplerd::perf
