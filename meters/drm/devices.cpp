// SPDX-License-Identifier: Apache-2.0
#include "meters/drm/devices.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/parse.h"
#include "base/pci_address.h"
#include "host/host_root.h"

namespace keplerd::drm {
namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The name of what the link points to; empty without one.
std::string link_name(const HostRoot& host, const std::string& path) {
  const auto target = read_link(host.sysfs(), path.c_str());
  return target ? last_part(*target) : std::string();
}

std::vector<std::string> names_in(const HostRoot& host, const char* directory) {
  auto names = list_directory(host.sysfs(), directory);
  if (!names) return {};
  std::ranges::sort(*names);
  return *std::move(names);
}

bool is_card(std::string_view name) {
  return take_prefix(name, "card") && parse_number<int>(name).has_value();
}

}  // namespace

std::map<std::string, std::string> find_cards(const HostRoot& host) {
  std::map<std::string, std::string> cards;
  for (const std::string& name : names_in(host, "class/drm")) {
    if (!is_card(name)) continue;
    const std::string device = "class/drm/" + name + "/device";
    const auto address = pci_address(link_name(host, device));
    if (address) cards[*address] = link_name(host, device + "/driver");
  }
  return cards;
}

bool is_graphics(const HostRoot& host, const std::string& address) {
  std::array<char, 128> buffer{};
  const auto text = read_file(host.sysfs(), ("bus/pci/devices/" + address + "/class").c_str(), buffer);
  return text && text->starts_with("0x03");
}

// The driver has a directory for each process that has opened it.
bool is_kfd_used(const HostRoot& host) { return !names_in(host, "class/kfd/kfd/proc").empty(); }

}  // namespace keplerd::drm
