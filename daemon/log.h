// SPDX-License-Identifier: Apache-2.0
// The daemon's log: to the journal if stderr is connected to it (systemd.exec(5), JOURNAL_STREAM), else to
// stderr. Libraries do not log; what they return is logged once, here in daemon/.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace keplerd {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// "debug", "info", "warning", "error".
Result<LogLevel> parse_log_level(std::string_view name);

void open_log(LogLevel level);

void log_debug(const std::string& message);
void log_info(const std::string& message);
void log_warning(const std::string& message);
void log_error(const std::string& message);

}  // namespace keplerd
