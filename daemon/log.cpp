// SPDX-License-Identifier: Apache-2.0
#include "daemon/log.h"

#include <array>
#include <string>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/systemd_sink.h>
#include <spdlog/spdlog.h>

#include "base/journal.h"

namespace keplerd {
namespace {

struct NamedLevel {
  std::string_view name;
  LogLevel level;
  spdlog::level::level_enum spdlog_level;
};
constexpr std::array<NamedLevel, 4> kLevels = {{{"debug", LogLevel::kDebug, spdlog::level::debug},
                                                {"info", LogLevel::kInfo, spdlog::level::info},
                                                {"warning", LogLevel::kWarning, spdlog::level::warn},
                                                {"error", LogLevel::kError, spdlog::level::err}}};

}  // namespace

Result<LogLevel> parse_log_level(std::string_view name) {
  for (const NamedLevel& level : kLevels) {
    if (level.name == name) return level.level;
  }
  return Error{"must be debug, info, warning or error"};
}

void open_log(LogLevel level) {
  std::shared_ptr<spdlog::logger> logger;
  if (stderr_is_journal()) {
    logger = std::make_shared<spdlog::logger>("keplerd", std::make_shared<spdlog::sinks::systemd_sink_st>());
  } else {
    logger =
        std::make_shared<spdlog::logger>("keplerd", std::make_shared<spdlog::sinks::stderr_color_sink_st>());
    logger->set_pattern("%n: %^%l%$: %v");
  }
  for (const NamedLevel& known : kLevels) {
    if (known.level == level) logger->set_level(known.spdlog_level);
  }
  logger->flush_on(spdlog::level::debug);
  spdlog::set_default_logger(std::move(logger));
}

// The message is data, never a format.
void log_debug(const std::string& message) { spdlog::debug("{}", message); }
void log_info(const std::string& message) { spdlog::info("{}", message); }
void log_warning(const std::string& message) { spdlog::warn("{}", message); }
void log_error(const std::string& message) { spdlog::error("{}", message); }

}  // namespace keplerd
