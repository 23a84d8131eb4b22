// SPDX-License-Identifier: Apache-2.0
// keplerd-ipmi: reads the power of this host from its management controller through /dev/ipmi0, for keplerd.
// A process of its own, because that device is full power over the controller, and because it may hang for
// minutes.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include <sysexits.h>

#include "event/stderr_log.h"
#include "meters/ipmi/free_ipmi.h"
#include "meters/ipmi/reader.h"
#include "meters/meter_writer.h"
#include "meters/problem_report.h"

namespace {

using namespace keplerd;

[[noreturn]] void run() {
  const char* const given = std::getenv("RUNTIME_DIRECTORY");  // by systemd
  const std::string directory = given != nullptr ? given : "/run/keplerd-meters/ipmi";
  meters::ProblemReport report(meters::report_in(directory));
  ipmi::FreeIpmi controller;
  ipmi::Reader reader(controller, meters::boot_microseconds);
  while (true) {
    ipmi::Poll poll = reader.poll();
    if (poll.problem.empty()) {
      if (const auto written = meters::write_meters(directory, poll.meters); !written)
        poll.problem = written.error().message;
    }
    report.set(poll.problem);
    meters::pause(poll.pause);
  }
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) {
    std::cerr << "keplerd-ipmi: it has no options; see keplerd-ipmi(8)\n";
    return EX_USAGE;
  }
  try {
    run();
  } catch (const std::exception& exception) {
    stderr_log::log_error(exception.what());
    return EXIT_FAILURE;
  }
}
