// SPDX-License-Identifier: Apache-2.0
// The log of the programs next to keplerd (which has daemon/log.h), on stderr: with sd-daemon(3) levels if
// that is the journal, otherwise after the name of the program.
#pragma once

#include <string>

namespace keplerd::stderr_log {

void log_info(const std::string& message);
void log_warning(const std::string& message);
void log_error(const std::string& message);

}  // namespace keplerd::stderr_log
