// SPDX-License-Identifier: Apache-2.0
// Options that take a time span, as systemd writes them (systemd.time(7)).
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace keplerd::cli {

// Adds `--NAME TIME`, which is checked with parse_time_span (config/time_span.h).
void add_time_option(CLI::App& app, const std::string& name, std::string& text,
                     const std::string& description);

}  // namespace keplerd::cli
