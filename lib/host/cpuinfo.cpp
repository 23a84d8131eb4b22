// SPDX-License-Identifier: Apache-2.0
#include "host/cpuinfo.h"

#include <array>

#include "base/parse.h"
#include "host/host_root.h"
#include "host/kept_file.h"

namespace keplerd {

std::string read_cpuinfo(const HostRoot& host) {
  std::array<char, 8192> buffer;  // more than one section, which is 1.5 to 2 KiB
  const auto text = read_beginning(host.procfs(), "cpuinfo", buffer);
  return text ? std::string(*text) : std::string();
}

std::optional<std::string_view> cpuinfo_field(std::string_view cpuinfo, std::string_view name) {
  while (!cpuinfo.empty()) {
    std::string_view line = take_until(cpuinfo, '\n');
    if (line.empty()) break;
    if (trim(take_until(line, ':')) == name) return trim(line);
  }
  return std::nullopt;
}

bool is_amd(std::string_view vendor) { return vendor == "AuthenticAMD" || vendor == "HygonGenuine"; }

}  // namespace keplerd
