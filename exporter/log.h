// SPDX-License-Identifier: Apache-2.0
// What the exporter says, on stderr; with the levels of sd-daemon(3) where that is the journal.
#pragma once

#include <string>

namespace keplerd::exporter {

void log_info(const std::string& message);
void log_warning(const std::string& message);
void log_error(const std::string& message);

}  // namespace keplerd::exporter
