// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/checks.h"
#include "cli/screens.h"
#include "cli/verb.h"

namespace keplerd::cli {

int run_doctor(const Context& context) {
  const DoctorFacts facts = gather_facts(context.options.address, context.options.host);
  const std::vector<Check> checks = check_all(facts);
  const int status = doctor_status(facts, checks);
  if (context.wants_json()) {
    context.show_json(checks_json(checks));
    return status;
  }
  std::string text = checks_text(checks, context.terminal.colour);
  if (context.options.legend && facts.status) {
    text += "\n" + source_line(*facts.status, context.terminal.colour) + "\n";
  }
  context.show(text);
  return status;
}

}  // namespace keplerd::cli
