// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/doctor/capture.h"
#include "cli/doctor/checks.h"
#include "cli/fields.h"
#include "cli/screens.h"
#include "cli/verb.h"
#include "host/host_root.h"

namespace keplerd::cli {
namespace {

// Saves a capture for a bug report.
int write_host(const Context& context) {
  const auto host = HostRoot::open(context.options.host);
  if (!host) return context.fail(printable(host.error().message));
  const Capture capture = capture_host(*host);
  if (context.options.capture == "-") {
    context.out << json_text(capture_json(capture), JsonMode::kPretty);
    return kFine;
  }
  const auto written = write_capture(context.options.capture, capture);
  if (!written) return context.fail(printable(written.error().message));
  if (context.options.legend) {
    context.out << fmt::format("{} files of this host are in {}, {} could not be read{}\n",
                               capture.files.size(), printable(context.options.capture),
                               capture.errors.size(),
                               capture.errors.empty() ? "" : " (root may read all of them)");
  }
  return kFine;
}

}  // namespace

int run_doctor(const Context& context) {
  if (!context.options.capture.empty()) return write_host(context);
  const DoctorFacts facts = gather_facts(context.options.address, context.options.host);
  const std::vector<Check> checks = check_all(facts);
  const int status = doctor_status(facts, checks);
  if (context.wants_json()) {
    context.show_json(checks_json(checks));
    return status;
  }
  std::string text = checks_text(checks, context.terminal.colour, context.table_style().width);
  if (context.options.legend && facts.status) {
    text += "\n" + source_line(*facts.status, context.terminal.colour) + "\n";
  }
  context.show(text + verdict_text(checks));
  return status;
}

}  // namespace keplerd::cli
