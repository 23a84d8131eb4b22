// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include "cli/arguments.h"
#include "cli/verbs/hosts.h"

namespace keplerd::cli {

int run_program(const std::vector<std::string>& arguments, const Terminal& terminal, std::ostream& out,
                std::ostream& err) {
  const auto parsed = parse_arguments(arguments, terminal.is_terminal);
  if (const auto* answer = std::get_if<Answer>(&parsed)) {
    if (!answer->usage_error) {
      out << answer->text;
      return kFine;
    }
    err << "keplerctl: " << answer->text << "\n";
    return kUsage;
  }
  const auto& command = std::get<Command>(parsed);
  const Context context{command.options, terminal, out, err};
  if (!command.options.hosts.empty()) return run_on_hosts(context, *command.verb);
  return command.verb->run(context);
}

}  // namespace keplerd::cli
