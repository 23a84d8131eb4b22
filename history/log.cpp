// SPDX-License-Identifier: Apache-2.0
#include "history/log.h"

#include <iostream>

#include <systemd/sd-daemon.h>

#include "base/journal.h"

namespace keplerd::history {
namespace {

void log(const char* level, const std::string& message) {
  std::cerr << (stderr_is_journal() ? level : "keplerd-history: ") << message << std::endl;
}

}  // namespace

void log_info(const std::string& message) { log(SD_INFO, message); }
void log_warning(const std::string& message) { log(SD_WARNING, message); }
void log_error(const std::string& message) { log(SD_ERR, message); }

}  // namespace keplerd::history
