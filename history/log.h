// SPDX-License-Identifier: Apache-2.0
// keplerd-history's log, on stderr; with sd-daemon(3) levels if that is the journal.
#pragma once

#include <string>

namespace keplerd::history {

void log_info(const std::string& message);
void log_warning(const std::string& message);
void log_error(const std::string& message);

}  // namespace keplerd::history
