// SPDX-License-Identifier: Apache-2.0
#include "daemon/options.h"

#include <iostream>

#include <CLI/CLI.hpp>

#include "config/settings_table.h"
#include "version.h"

namespace keplerd {
namespace {

constexpr int kUsageError = 2;

void add_options(CLI::App& app, Options& options, std::string& log_level) {
  app.add_option("--config", options.config, "Read only this file, and no drop-ins")->type_name("FILE");
  app.add_option("--bus", options.bus, "D-Bus to connect to: system, session, none or an address")
      ->type_name("BUS")
      ->capture_default_str();
  app.add_option("--runtime-dir", options.runtime_directory, "Directory of the varlink socket")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--state-dir", options.state_directory, "Directory in which the totals are saved")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--wal-dir", options.log_directory,
                 "Directory of the write-ahead log, which preserves the totals across a crash; default: " +
                     std::string(kLogDirectory) + ", or --state-dir if given")
      ->type_name("DIR");
  app.add_option("--sysfs", options.host.sysfs, "Read this instead of /sys")->type_name("DIR");
  app.add_option("--procfs", options.host.procfs, "Read this instead of /proc")->type_name("DIR");
  app.add_option("--cgroupfs", options.host.cgroupfs, "Read this instead of the mounted cgroup2")
      ->type_name("DIR");
  app.add_option("--root", options.host.root,
                 "Look up names of containers and guests here instead of in /: in var/lib/docker, "
                 "var/lib/containers, var/log/pods, etc/pve")
      ->type_name("DIR");
  app.add_option("--source", options.source, "Energy source, instead of Source=")->type_name("NAME");
  app.add_option("--interval", options.interval, "Time between samples, instead of Interval=")
      ->type_name("TIME");
  app.add_option("--log-level", log_level, "debug, info, warning or error")
      ->type_name("LEVEL")
      ->capture_default_str();
  app.add_flag("--check-config", options.check_config,
               "Check the configuration, print the effective settings, and exit");
  app.add_option("--replay", options.replay,
                 "Divide a trace again, print the status, the zones and the units, and exit")
      ->type_name("FILE");
  app.add_option("--every", options.every, "With --replay: print the result every N samples")->type_name("N");
  app.set_version_flag("--version", "keplerd " KEPLERD_VERSION, "Print the version and exit");
}

int usage_error(const std::string& message) {
  std::cerr << "keplerd: " << message << '\n';
  return kUsageError;
}

// An address is TRANSPORT:KEY=VALUE,... (D-Bus specification, "Server Addresses").
bool is_bus(const std::string& bus) {
  return bus == "system" || bus == "session" || bus == "none" || bus.find(':') != std::string::npos;
}

}  // namespace

std::variant<Options, int> parse_options(int argc, char** argv) {
  Options options;
  std::string log_level = "info";
  CLI::App app(
      "Divides the measured energy of this host among its virtual machines, containers, units and processes.",
      "keplerd");
  add_options(app, options, log_level);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
    return usage_error(error.what());
  }
  const auto level = parse_log_level(log_level);
  if (!level) return usage_error("--log-level " + log_level + ": " + level.error().message);
  options.log_level = *level;
  if (options.every && !options.replay) return usage_error("--every requires --replay");
  if (options.every == 0) return usage_error("--every 0: expected a positive number");
  if (!is_bus(options.bus))
    return usage_error("--bus " + options.bus +
                       ": expected system, session, none or an address (unix:path=...)");
  return options;
}

std::string log_directory(const Options& options) {
  if (options.log_directory) return *options.log_directory;
  return options.state_directory == kStateDirectory ? kLogDirectory : options.state_directory;
}

Result<LoadedSettings> load_effective_settings(const Options& options) {
  auto loaded = options.config ? load_settings_file(*options.config) : load_settings();
  if (!loaded) return loaded.error();
  if (options.source) {
    const auto set = set_setting(loaded->settings, "Energy", "Source", *options.source);
    if (!set) return Error{"--source: " + set.error().message};
    loaded->settings.energy.source_place = {"--source"};
    const auto together = check_together(loaded->settings);
    if (!together) return together.error();
  }
  if (options.interval) {
    const auto set = set_setting(loaded->settings, "Sampling", "Interval", *options.interval);
    if (!set) return Error{"--interval: " + set.error().message};
  }
  return loaded;
}

}  // namespace keplerd
