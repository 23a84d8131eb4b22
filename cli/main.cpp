// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include <unistd.h>

#include "cli/exit_status.h"
#include "cli/output/fd_buffer.h"
#include "cli/program.h"
#include "cli/run/child.h"

int main(int argc, char** argv) {
  using namespace keplerd::cli;
  // A reader that stops early (`keplerctl units | head -1`) is not an error: detected below, as EPIPE.
  if (std::signal(SIGPIPE, SIG_IGN) == SIG_IGN) run::keep_ignoring_sigpipe();
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  FdBuffer buffer(STDOUT_FILENO);
  std::ostream out(&buffer);
  const int status = run_program(arguments, find_terminal(), out, std::cerr);
  out.flush();
  if (buffer.error() != 0 && buffer.error() != EPIPE) {
    std::cerr << "keplerctl: cannot write to standard output: " << std::strerror(buffer.error()) << "\n";
    return kFailed;
  }
  return status;
}
