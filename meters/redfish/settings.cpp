// SPDX-License-Identifier: Apache-2.0
#include "meters/redfish/settings.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/parse.h"
#include "config/time_span.h"

namespace keplerd::redfish {
namespace {

constexpr std::size_t kLongestHost = 255, kMostChassis = 64;
constexpr Nanoseconds kShortestInterval = std::chrono::seconds(1);
// keplerd does not use what is older than a minute, and a reply may take a while.
constexpr Nanoseconds kLongestInterval = std::chrono::seconds(30);

bool is_host(std::string_view text) {
  const auto is_ordinary = [](char c) {
    constexpr std::string_view kOthers = "-.:[]";
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != kOthers.npos;
  };
  return !text.empty() && text.size() <= kLongestHost && std::ranges::all_of(text, is_ordinary);
}

Result<Done> set_chassis(std::string_view value, Settings& settings) {
  while (!value.empty()) {
    const std::string_view id = trim(take_until(value, ','));
    if (id.empty()) continue;
    if (settings.chassis.size() >= kMostChassis) return Error{.message = "too many chassis"};
    settings.chassis.emplace_back(id);
  }
  return Done{};
}

Result<Done> set(std::string_view key, std::string_view value, Settings& settings) {
  if (key == "Host") {
    if (!is_host(value))
      return Error{.message = "Host= is not the name or address of a host, without https://"};
    settings.host = value;
  } else if (key == "User") {
    if (value.find(':') != value.npos) return Error{.message = "User= must not contain a colon"};
    settings.user = value;
  } else if (key == "Password") {
    settings.password = value;
  } else if (key == "Interval") {
    const auto interval = parse_time_span(value);
    if (!interval || *interval < kShortestInterval || *interval > kLongestInterval)
      return Error{.message = "Interval= is not a time from 1s to 30s"};
    settings.interval = *interval;
  } else if (key == "Chassis") {
    return set_chassis(value, settings);
  } else {
    return Error{.message = "unknown key (expected Host, User, Password, Interval or Chassis)"};
  }
  return Done{};
}

}  // namespace

Result<Settings> parse_settings(std::string_view text) {
  Settings settings;
  for (int number = 1; !text.empty(); ++number) {
    std::string_view line = trim(take_until(text, '\n'));
    if (line.empty() || line.starts_with('#')) continue;
    if (line.find('=') == line.npos) return Error{.message = fmt::format("line {}: not Key=value", number)};
    const std::string_view key = trim(take_until(line, '='));
    const auto done = set(key, trim(line), settings);
    if (!done) return Error{.message = fmt::format("line {}: {}", number, done.error().message)};
  }
  for (const auto& [value, key] :
       {std::pair{&settings.host, "Host"}, {&settings.user, "User"}, {&settings.password, "Password"}}) {
    if (value->empty()) return Error{.message = fmt::format("{}= is missing", key)};
  }
  return settings;
}

}  // namespace keplerd::redfish
