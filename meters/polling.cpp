// SPDX-License-Identifier: Apache-2.0
#include "meters/polling.h"

#include <cstdlib>
#include <exception>
#include <iostream>

#include <sysexits.h>

#include "event/stderr_log.h"
#include "meters/problem_report.h"

namespace keplerd::meters {

std::string directory_in(const char* variable, const char* otherwise) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? value : otherwise;
}

void publish(const std::string& directory, const std::function<Poll()>& poll) {
  ProblemReport report(report_in(directory));
  while (true) {
    Poll reading = poll();
    if (reading.problem.empty()) {
      if (const auto written = write_meters(directory, reading.meters); !written)
        reading.problem = written.error().message;
    }
    report.set(reading.problem);
    pause(reading.pause);
  }
}

int run_program(const std::string& name, int argc, const std::function<int()>& run) {
  if (argc > 1) {
    std::cerr << name << ": it has no options; see " << name << "(8)\n";
    return EX_USAGE;
  }
  try {
    return run();
  } catch (const std::exception& exception) {
    stderr_log::log_error(exception.what());
    return EXIT_FAILURE;
  }
}

}  // namespace keplerd::meters
