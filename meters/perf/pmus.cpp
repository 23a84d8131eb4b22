// SPDX-License-Identifier: Apache-2.0
#include "meters/perf/pmus.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/cpu_list.h"
#include "base/parse.h"
#include "host/host_root.h"

namespace keplerd::perf {
namespace {

constexpr char kDevices[] = "bus/event_source/devices";

std::optional<std::string_view> text_of(const HostRoot& host, const std::string& name, const char* file,
                                        std::span<char> buffer) {
  const auto text = read_file(host.sysfs(), fmt::format("{}/{}/{}", kDevices, name, file).c_str(), buffer);
  return text ? std::optional(trim(*text)) : std::nullopt;
}

}  // namespace

Pmus pmus_of_cpus(const HostRoot& host) {
  Pmus pmus;
  const auto names = list_directory(host.sysfs(), kDevices);
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    if (!name.starts_with("cpu_")) continue;
    std::array<char, 4096> buffer;
    const auto type_text = text_of(host, name, "type", buffer);
    const auto type = type_text ? parse_number<std::uint32_t>(*type_text) : std::nullopt;
    const auto list = text_of(host, name, "cpus", buffer);
    const auto cpus = list ? parse_cpu_list(*list) : std::nullopt;
    if (!type || !cpus) continue;
    for (const int cpu : *cpus) pmus.insert_or_assign(cpu, *type);
  }
  return pmus;
}

}  // namespace keplerd::perf
