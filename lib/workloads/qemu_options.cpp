// SPDX-License-Identifier: Apache-2.0
#include "workloads/qemu_options.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/parse.h"
#include "workloads/identifier.h"

namespace keplerd {
namespace {

struct Setting {
  std::string_view key;  // empty: the first one, without a key
  std::string value;
};

// Removes the first setting from "guest=a,,b,debug-threads=on" (QemuOpts): ",," stands for a comma.
Setting take_setting(std::string_view& rest) {
  Setting setting;
  const auto end_of_key = rest.find_first_of("=,");
  if (end_of_key != rest.npos && rest[end_of_key] == '=') {
    setting.key = rest.substr(0, end_of_key);
    rest.remove_prefix(end_of_key + 1);
  }
  while (!rest.empty()) {
    const bool comma = rest[0] == ',';
    if (comma && !rest.starts_with(",,")) {
      rest.remove_prefix(1);
      break;
    }
    const auto next = std::min(rest.find(',', 1), rest.size());
    setting.value += rest.substr(comma ? 1 : 0, comma ? 1 : next);
    rest.remove_prefix(comma ? 2 : next);
  }
  return setting;
}

void read_name(std::string_view text, QemuOptions& options) {
  for (bool first = true; !text.empty(); first = false) {
    Setting setting = take_setting(text);
    if (setting.key == "guest" || (first && setting.key.empty())) options.name = std::move(setting.value);
    if (setting.key == "process") options.process = std::move(setting.value);
  }
}

std::string smbios_uuid(std::string_view text) {
  std::string uuid;
  bool system = false;
  while (!text.empty()) {
    const Setting setting = take_setting(text);
    if (setting.key == "type") system = setting.value == "1";
    if (setting.key == "uuid") uuid = canonical_uuid(setting.value);
  }
  return system ? uuid : std::string();
}

bool asks_for_help(std::string_view value) {
  return value == "help" || value == "?" || value.ends_with(",help") || value.ends_with(",?");
}

bool is_no_vm(std::string_view text) {
  if (asks_for_help(text)) return true;
  bool none = false;
  for (bool first = true; !text.empty(); first = false) {
    const Setting setting = take_setting(text);
    if (setting.key == "type" || (first && setting.key.empty())) none = setting.value == "none";
  }
  return none;
}

// Without sockets=, their number depends on the VM's version.
int read_cpu_sockets(std::string_view text) {
  constexpr int kMost = 64;
  int sockets = 1;
  while (!text.empty()) {
    const Setting setting = take_setting(text);
    if (setting.key == "sockets") sockets = parse_number<int>(setting.value).value_or(1);
  }
  return sockets >= 1 && sockets <= kMost ? sockets : 1;
}

// "4,maxcpus=8,sockets=2": those that it starts with. Without their number, it is that of the topology.
std::optional<int> read_vcpus(std::string_view text) {
  std::int64_t threads = 1;
  for (bool first = true; !text.empty(); first = false) {
    const Setting setting = take_setting(text);
    const auto number = parse_vcpus(setting.value);
    if (setting.key == "cpus" || (first && setting.key.empty())) return number;
    if (setting.key != "maxcpus") threads *= number.value_or(1);
    if (threads > kMostVcpus) return std::nullopt;
  }
  return static_cast<int>(threads);
}

// "2048", "size=1048576k,slots=16,maxmem=4194304k"
std::optional<std::int64_t> read_memory(std::string_view text) {
  constexpr std::int64_t kMebibyte = 1 << 20;
  for (bool first = true; !text.empty(); first = false) {
    const Setting setting = take_setting(text);
    if (setting.key == "size" || (first && setting.key.empty()))
      return parse_vm_memory(setting.value, kMebibyte);
  }
  return std::nullopt;
}

constexpr std::size_t kMostSockets = 64;

// "socket,id=chrtpm,path=/run/1-web-swtpm.sock", "stream,id=n0,addr.type=unix,addr.path=/tmp/passt_1.socket".
// (libvirt writes netdevs as JSON; but then their helpers are in the VM's cgroup.)
void read_socket(std::string_view text, std::vector<std::string>& sockets) {
  while (!text.empty() && sockets.size() < kMostSockets) {
    Setting setting = take_setting(text);
    const bool path = setting.key == "path" || setting.key == "addr.path";
    if (path && setting.value.starts_with('/')) sockets.push_back(std::move(setting.value));
  }
}

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, name) != names.end();
}

constexpr std::array<std::string_view, 3> kQuestions = {"version", "help", "h"};
constexpr std::array<std::string_view, 3> kMayAskForHelp = {"cpu", "device", "accel"};
constexpr std::array<std::string_view, 9> kNeedValue = {"name", "uuid",    "smbios", "id",    "xen-domid",
                                                        "M",    "machine", "append", "kernel"};

void read_option(std::string_view option, std::string_view value, QemuOptions& options,
                 std::string& of_smbios) {
  if (is_one_of(option, kQuestions)) options.no_vm = true;
  if (is_one_of(option, kMayAskForHelp) && asks_for_help(value)) options.no_vm = true;
  if ((option == "machine" || option == "M") && is_no_vm(value)) options.no_vm = true;
  if (option == "name") read_name(value, options);
  if (option == "uuid") options.uuid = canonical_uuid(value);
  if (option == "id" && is_digits(value)) options.number = value;
  if (option == "xen-domid" && is_digits(value)) options.domain = value;
  if (option == "smp") {
    options.cpu_sockets = read_cpu_sockets(value);
    options.size.vcpus = read_vcpus(value);
  }
  if (option == "m") options.size.memory = read_memory(value);
  if (option == "chardev" || option == "netdev") read_socket(value, options.helper_sockets);
  if (option == "smbios") {
    if (std::string uuid = smbios_uuid(value); !uuid.empty()) of_smbios = std::move(uuid);
  }
}

}  // namespace

QemuOptions parse_qemu_options(std::span<const std::string_view> words) {
  QemuOptions options;
  std::string of_smbios;
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string_view option = words[i];
    if (!option.starts_with('-')) continue;
    option.remove_prefix(option.starts_with("--") ? 2 : 1);
    std::string_view value;
    if (const auto equals = option.find('='); equals != option.npos) {
      value = option.substr(equals + 1);
      option = option.substr(0, equals);
    } else if (i + 1 < words.size() && !is_one_of(option, kQuestions) &&
               (is_one_of(option, kNeedValue) || !words[i + 1].starts_with('-'))) {
      value = words[++i];
    }
    read_option(option, value, options, of_smbios);
  }
  if (options.uuid.empty()) options.uuid = std::move(of_smbios);
  return options;
}

}  // namespace keplerd
