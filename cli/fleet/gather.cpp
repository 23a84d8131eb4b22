// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet/gather.h"

#include <cstdlib>
#include <string_view>
#include <utility>

#include "cli/fleet/command.h"
#include "cli/fleet/processes.h"

namespace keplerd::cli::fleet {
namespace {

std::string ssh_program() {
  const char* const program = std::getenv("KEPLERCTL_SSH");
  return program != nullptr && *program != '\0' ? program : "ssh";
}

}  // namespace

std::vector<Reply> gather(const Options& options, const Question& question, const Limits& limits) {
  std::vector<std::string> words = {"keplerctl", "--json=short"};
  if (options.address != kDefaultAddress) words.push_back("--varlink=" + options.address);
  words.push_back(question.verb);
  words.insert(words.end(), question.arguments.begin(), question.arguments.end());
  std::vector<std::vector<std::string>> commands;
  for (const Host& host : options.hosts) commands.push_back(ssh_command(ssh_program(), host, words));
  std::vector<Reply> replies(commands.size());
  run_all(commands, limits, [&](std::size_t index, const Ended& ended) {
    replies[index] = reply_of(options.hosts[index].name, question.verb, question.key, ended, limits);
  });
  return replies;
}

}  // namespace keplerd::cli::fleet
