// SPDX-License-Identifier: Apache-2.0
#include "history/options.h"

#include <iostream>

#include <CLI/CLI.hpp>

#include "base/parse.h"

namespace keplerd::history {
namespace {

constexpr int kUsageError = 2;

// Nothing from keplerd for longer than that is a fault (client/stream.h).
constexpr int kLongestInterval = 60;

std::string check_interval(const std::string& text) {
  const int seconds = parse_number<int>(text).value_or(0);
  return seconds >= 1 && seconds <= kLongestInterval ? ""
                                                     : "invalid number '" + text + "' (expected 1 to 60)";
}

}  // namespace

std::variant<Options, int> parse_options(int argc, char** argv) {
  Options options;
  CLI::App app("Records the measurements of keplerd.", "keplerd-history");
  const auto add = [&app](const char* name, std::string& value, const char* description, const char* type) {
    return app.add_option(name, value, description)->type_name(type);
  };
  add("--varlink", options.varlink, "Socket of keplerd", "ADDRESS")->capture_default_str();
  add("--state-dir", options.state_directory, "Directory of the database", "DIRECTORY")
      ->capture_default_str();
  add("--runtime-dir", options.runtime_directory, "Directory of the socket", "DIRECTORY")
      ->capture_default_str();
  add("--bus", options.bus, "D-Bus to connect to: system, none or an address", "BUS")->capture_default_str();
  int interval = kLongestInterval;
  app.add_option("--interval", interval, "Seconds between two readings")
      ->type_name("N")
      ->check(check_interval)
      ->capture_default_str();
  add("--config", options.config, "Read the configuration from this file only", "FILE");
  add("--cost-config", options.cost_config, "Read price and emissions from this file", "FILE");
  add("--copy-to", options.copy, "Copy the database to a new file, and exit", "FILE");
  app.set_version_flag("--version", "keplerd-history " KEPLERD_VERSION, "Print the version and exit");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
    std::cerr << "keplerd-history: " << error.what() << '\n';
    return kUsageError;
  }
  if (options.bus != "system" && options.bus != "none" && options.bus.find(':') == std::string::npos) {
    std::cerr << "keplerd-history: invalid bus '" << options.bus
              << "' (expected system, none or an address)\n";
    return kUsageError;
  }
  options.interval = std::chrono::seconds(interval);
  return options;
}

}  // namespace keplerd::history
