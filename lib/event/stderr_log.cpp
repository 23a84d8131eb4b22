// SPDX-License-Identifier: Apache-2.0
#include "event/stderr_log.h"

#include <cerrno>  // program_invocation_short_name(3)
#include <iostream>

#include <systemd/sd-daemon.h>

#include "base/journal.h"

namespace keplerd::stderr_log {
namespace {

void log(const char* level, const std::string& message) {
  if (stderr_is_journal()) {
    std::cerr << level << message << std::endl;
  } else {
    std::cerr << program_invocation_short_name << ": " << message << std::endl;
  }
}

}  // namespace

void log_info(const std::string& message) { log(SD_INFO, message); }
void log_warning(const std::string& message) { log(SD_WARNING, message); }
void log_error(const std::string& message) { log(SD_ERR, message); }

}  // namespace keplerd::stderr_log
