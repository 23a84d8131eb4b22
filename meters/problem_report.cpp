// SPDX-License-Identifier: Apache-2.0
#include "meters/problem_report.h"

#include <utility>

#include "event/stderr_log.h"
#include "meters/meter_writer.h"

namespace keplerd::meters {
namespace {

std::string without_digits(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

}  // namespace

void ProblemReport::set(const std::string& problem) {
  std::string kind = without_digits(problem);
  if (kind == kind_) return;
  outputs_.write(problem);
  if (problem.empty()) {
    outputs_.inform("The meter is read again");
  } else {
    outputs_.warn(problem);
  }
  kind_ = std::move(kind);
}

ProblemReport::Outputs report_in(const std::string& directory) {
  return {.write =
              [directory](const std::string& problem) {
                if (const auto written = write_problem(directory, problem); !written)
                  stderr_log::log_error(written.error().message);
              },
          .warn = stderr_log::log_warning,
          .inform = stderr_log::log_info};
}

}  // namespace keplerd::meters
