// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet/hosts.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/parse.h"
#include "base/text.h"

namespace keplerd::cli::fleet {
namespace {

constexpr std::size_t kLongestName = 255;
// Recent versions of ssh refuse them, too: a ProxyCommand of its configuration hands the name to a shell.
constexpr std::string_view kRefused = " '\"`$\\;&<>|(){}*?!#~^,";

Error invalid(const std::string& text, std::string_view why) {
  constexpr std::size_t kShown = 80;
  return {fmt::format("invalid host '{}': {}", escape_name(text.substr(0, kShown)), why)};
}

// Cuts ":PORT" off, and the brackets of an IPv6 address. A name with several colons and without brackets is
// such an address. Returns false if it is malformed.
bool split_port(std::string_view name, Host& host) {
  std::string_view address = name, rest;
  if (name.starts_with('[')) {
    const auto end = name.find(']');
    if (end == std::string_view::npos) return false;
    address = name.substr(1, end - 1);
    rest = name.substr(end + 1);
    if (!rest.empty() && !take_prefix(rest, ":")) return false;
    if (rest.empty() && name.ends_with(':')) return false;
  } else if (std::ranges::count(name, ':') == 1) {
    rest = name;
    address = take_until(rest, ':');
    if (rest.empty()) return false;
  }
  if (!rest.empty() && parse_number<std::uint16_t>(rest).value_or(0) == 0) return false;
  host.destination += address;
  host.port = rest;
  return !address.empty() && address.find_first_of("[]") == std::string_view::npos;
}

}  // namespace

Result<Host> parse_host(const std::string& text) {
  if (text.empty()) return Error{"--host: a name is empty (expected HOST[,HOST...])"};
  if (text.size() > kLongestName) return invalid(text, "the name is too long");
  const bool plain = is_plain_name(text) && text.find_first_of(kRefused) == std::string::npos;
  if (!plain)
    return invalid(text, "it contains a blank, a control character or one that a shell would interpret");
  Host host{text, "", ""};
  std::string_view name = text;
  if (const auto at = name.rfind('@'); at != std::string_view::npos) {
    if (at == 0) return invalid(text, "the name of the user is empty");
    host.destination = name.substr(0, at + 1);
    name.remove_prefix(at + 1);
  }
  if (text.starts_with('-') || name.starts_with('-') || name.starts_with("[-"))
    return invalid(text, "it begins with a hyphen");
  if (!split_port(name, host)) return invalid(text, "expected [USER@]HOST[:PORT]");
  return host;
}

Result<std::vector<Host>> parse_hosts(const std::vector<std::string>& texts) {
  std::vector<Host> hosts;
  std::set<std::string> known;
  for (const std::string& text : texts) {
    auto host = parse_host(text);
    if (!host) return host.error();
    if (!known.insert(text).second) continue;
    if (hosts.size() == kMostHosts) return Error{fmt::format("--host: more than {} hosts", kMostHosts)};
    hosts.push_back(std::move(*host));
  }
  return hosts;
}

}  // namespace keplerd::cli::fleet
