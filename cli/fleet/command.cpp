// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet/command.h"

#include <algorithm>
#include <cctype>

namespace keplerd::cli::fleet {
namespace {

bool needs_no_quotes(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_-./:,@+=").find(c) != std::string_view::npos;
}

}  // namespace

std::string quoted_for_shell(std::string_view word) {
  if (!word.empty() && std::ranges::all_of(word, needs_no_quotes)) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::vector<std::string> ssh_command(const std::string& ssh, const Host& host,
                                     const std::vector<std::string>& words) {
  // No X11, no terminal, and no questions: several hosts would ask at once.
  std::vector<std::string> out = {ssh, "-xT", "-oBatchMode=yes", "-oConnectTimeout=10"};
  if (!host.port.empty()) out.push_back("-p" + host.port);
  out.push_back(host.destination);
  for (const std::string& word : words) out.push_back(quoted_for_shell(word));
  return out;
}

}  // namespace keplerd::cli::fleet
