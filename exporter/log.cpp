// SPDX-License-Identifier: Apache-2.0
#include "exporter/log.h"

#include <cstdlib>
#include <iostream>

#include <systemd/sd-daemon.h>

namespace keplerd::exporter {
namespace {

void log(const char* level, const std::string& message) {
  const bool journal = std::getenv("JOURNAL_STREAM") != nullptr;
  std::cerr << (journal ? level : "keplerd-exporter: ") << message << std::endl;
}

}  // namespace

void log_info(const std::string& message) { log(SD_INFO, message); }
void log_warning(const std::string& message) { log(SD_WARNING, message); }
void log_error(const std::string& message) { log(SD_ERR, message); }

}  // namespace keplerd::exporter
