// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "cli/exit_status.h"
#include "cli/program.h"

int main(int argc, char** argv) {
  using namespace keplerd::cli;
  // A reader that stops early (`keplerctl units | head -1`) is not an error: detected below, as EPIPE.
  std::signal(SIGPIPE, SIG_IGN);
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const int status = run_program(arguments, find_terminal(), std::cout, std::cerr);
  errno = 0;
  if (!std::cout.flush() && errno != EPIPE && errno != 0) {
    std::cerr << "keplerctl: cannot write: " << std::strerror(errno) << "\n";
    return kFailed;
  }
  return status;
}
