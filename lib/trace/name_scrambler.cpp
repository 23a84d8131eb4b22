// SPDX-License-Identifier: Apache-2.0
#include "trace/name_scrambler.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include <fmt/format.h>

#include "base/parse.h"

namespace keplerd {
namespace {

// Groups that systemd and runtimes create under these names everywhere.
constexpr auto kKept = std::to_array<std::string_view>({"-.slice",
                                                        "app.slice",
                                                        "background.slice",
                                                        "besteffort",
                                                        "burstable",
                                                        "containerd",
                                                        "cri-containerd",
                                                        "default",
                                                        "docker",
                                                        "ecs",
                                                        "emulator",
                                                        "init.scope",
                                                        "k8s.io",
                                                        "kubepods",
                                                        "kubepods-besteffort.slice",
                                                        "kubepods-burstable.slice",
                                                        "kubepods.slice",
                                                        "libpod_parent",
                                                        "lxc",
                                                        "lxc.monitor",
                                                        "lxc.payload",
                                                        "machine",
                                                        "machine.slice",
                                                        "moby",
                                                        "nomad",
                                                        "nomad.slice",
                                                        "payload",
                                                        "qemu.slice",
                                                        "session.slice",
                                                        "supervisor",
                                                        "system.slice",
                                                        "user.slice"});

constexpr auto kSuffixes =
    std::to_array<std::string_view>({".automount", ".libvirt-lxc", ".libvirt-qemu", ".mount", ".scope",
                                     ".service", ".slice", ".socket", ".swap", ".timer"});

// What comes before the name or id of a workload; of two that fit, the longer one first.
constexpr auto kPrefixes = std::to_array<std::string_view>({"containerd-",
                                                            "cri-containerd-",
                                                            "crio-conmon-",
                                                            "crio-",
                                                            "docker-",
                                                            "kubepods-besteffort-pod",
                                                            "kubepods-burstable-pod",
                                                            "kubepods-pod",
                                                            "libpod-conmon-",
                                                            "libpod-payload-",
                                                            "libpod-",
                                                            "lxc.monitor.",
                                                            "lxc.payload.",
                                                            "machine-lxc\\x2d",
                                                            "machine-qemu\\x2d",
                                                            "machine-",
                                                            "nerdctl-",
                                                            "pod",
                                                            "qemu-",
                                                            "session-",
                                                            "systemd-nspawn@",
                                                            "systemd-vmspawn@",
                                                            "user-runtime-dir@",
                                                            "user@",
                                                            "user-"});

constexpr std::size_t kShortestId = 12;
constexpr std::size_t kUuid = 36;

bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// With "-", or as in the name of a slice with "_".
bool is_uuid(std::string_view text) {
  if (text.size() != kUuid) return false;
  for (std::size_t i = 0; i < kUuid; ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' && text[i] != '_' : !is_hex(text[i])) return false;
  }
  return true;
}

bool is_id(std::string_view text) { return text.size() >= kShortestId && std::ranges::all_of(text, is_hex); }

}  // namespace

std::string NameScrambler::path(std::string_view path) const {
  std::string scrambled;
  while (!path.empty()) {
    const std::string_view name = take_until(path, '/');
    if (name.empty()) continue;
    scrambled += '/';
    scrambled += component(name);
  }
  return scrambled;
}

std::string NameScrambler::component(std::string_view name) const {
  if (std::ranges::find(kKept, name) != kKept.end()) return std::string(name);
  if (const auto colon = name.find(':'); colon != name.npos)  // "SLICE:cri-containerd:ID"
    return component(name.substr(0, colon)) + ":" + component(name.substr(colon + 1));
  std::string_view suffix;
  for (const std::string_view known : kSuffixes)
    if (name.size() > known.size() && take_suffix(name, known)) suffix = known;
  for (const std::string_view known : kPrefixes) {
    std::string_view rest = name;
    if (!take_prefix(rest, known) || rest.empty()) continue;
    if (known == "pod" && !is_uuid(rest) && !is_id(rest)) continue;
    return fmt::format("{}{}{}", known, text(rest), suffix);
  }
  return text(name) + std::string(suffix);
}

std::string NameScrambler::text(std::string_view text) const {
  if (is_uuid(text) || is_id(text)) return hexadecimal(text);
  if (std::ranges::all_of(text, is_digit)) return number(text);
  // An instance of a template, a task of Nomad, the number of a VM and its name.
  if (const auto at = text.find('@'); at != text.npos)
    return this->text(text.substr(0, at)) + "@" + this->text(text.substr(at + 1));
  if (text.size() > kUuid && text[kUuid] == '.' && is_uuid(text.substr(0, kUuid)))
    return hexadecimal(text.substr(0, kUuid)) + "." + this->text(text.substr(kUuid + 1));
  const auto digits = static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
  for (const std::string_view separator : {"\\x2d", "-"}) {
    if (digits > 0 && text.substr(digits).starts_with(separator))
      return number(text.substr(0, digits)) + std::string(separator) +
             this->text(text.substr(digits + separator.size()));
  }
  return text.empty() ? std::string() : fmt::format("x{:016x}", keyed_hash(key_, text));
}

// 0 is root's, and stays; others have nine digits.
std::string NameScrambler::number(std::string_view digits) const {
  if (digits.empty() || digits == "0") return std::string(digits);
  return std::to_string(100'000'000 + keyed_hash(key_, digits) % 900'000'000);
}

// Of the same length, with its dashes where they were.
std::string NameScrambler::hexadecimal(std::string_view text) const {
  std::string digits;
  while (digits.size() < text.size())
    digits += fmt::format("{:016x}", keyed_hash(key_, fmt::format("{}:{}", digits.size(), text)));
  for (std::size_t i = 0; i < text.size(); ++i)
    if (!is_hex(text[i])) digits[i] = text[i];
  return digits.substr(0, text.size());
}

}  // namespace keplerd
