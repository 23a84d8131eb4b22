// SPDX-License-Identifier: Apache-2.0
#include "meters/drm/fdinfo.h"

#include <algorithm>
#include <array>

#include "base/parse.h"
#include "base/pci_address.h"

namespace keplerd::drm {
namespace {

constexpr std::size_t kLongestName = 64;

// "123", "123 ns"
std::optional<std::uint64_t> number_of(std::string_view value) {
  return parse_number<std::uint64_t>(take_word(value));
}

// Of the engine `name`; null if there are too many.
EngineTime* engine_of(ClientInfo& client, std::string_view name) {
  if (name.empty() || name.size() > kLongestName) return nullptr;
  const auto known = client.engines.find(std::string(name));
  if (known != client.engines.end()) return &known->second;
  if (client.engines.size() == kMostEngines) return nullptr;
  return &client.engines[std::string(name)];
}

void take_engine(std::string_view key, std::string_view value, ClientInfo& client) {
  std::optional<std::uint64_t> EngineTime::*field = nullptr;
  if (take_prefix(key, "drm-engine-")) {
    if (key.starts_with("capacity-")) return;
    field = &EngineTime::nanoseconds;
  } else if (take_prefix(key, "drm-cycles-")) {
    field = &EngineTime::cycles;
  } else if (take_prefix(key, "drm-total-cycles-")) {
    field = &EngineTime::all_cycles;
  } else {
    return;
  }
  const auto number = number_of(value);
  EngineTime* const engine = number ? engine_of(client, key) : nullptr;
  if (engine != nullptr) engine->*field = number;
}

// Removes the lines that all files have, and `pasid`, which amdgpu wrote first until Linux 6.5.
std::string_view own_lines(std::string_view text) {
  constexpr std::array<std::string_view, 6> kCommon = {"pos", "flags", "mnt_id", "ino", "lock", "pasid"};
  while (!text.empty()) {
    std::string_view rest = text;
    std::string_view line = take_until(rest, '\n');
    if (std::ranges::count(kCommon, take_until(line, ':')) == 0) return text;
    text = rest;
  }
  return text;
}

}  // namespace

std::optional<ClientInfo> parse_fdinfo(std::string_view text) {
  ClientInfo client;
  bool has_id = false;
  text = own_lines(text);
  if (!text.starts_with("drm-driver:")) return std::nullopt;
  while (!text.empty()) {
    std::string_view value = take_until(text, '\n');
    const std::string_view key = take_until(value, ':');
    value = trim(value);
    if (key == "drm-driver") {
      if (value.empty() || value.size() > kLongestName) return std::nullopt;
      client.driver = value;
    } else if (key == "drm-pdev") {
      client.device = pci_address(value).value_or("");
    } else if (key == "drm-client-id") {
      const auto id = number_of(value);
      if (!id) return std::nullopt;
      client.id = *id;
      has_id = true;
    } else {
      take_engine(key, value, client);
    }
  }
  if (client.driver.empty() || client.device.empty() || !has_id) return std::nullopt;
  return client;
}

std::optional<std::string> parse_vfio_fdinfo(std::string_view text) {
  text = own_lines(text);
  std::string_view line = take_until(text, '\n');
  if (!take_prefix(line, "vfio-device-syspath:")) return std::nullopt;
  return pci_address(trim(line.substr(line.rfind('/') + 1)));
}

}  // namespace keplerd::drm
