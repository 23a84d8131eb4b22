// SPDX-License-Identifier: Apache-2.0
// keplerd's command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/result.h"
#include "config/load.h"
#include "daemon/log.h"
#include "host/host_root.h"

namespace keplerd {

inline constexpr char kStateDirectory[] = "/var/lib/keplerd";
inline constexpr char kLogDirectory[] = "/run/keplerd-state";

struct Options {
  std::optional<std::string> config;  // read this file only
  std::string bus = "system";         // "session", "none" or an address
  std::string runtime_directory = "/run/keplerd";
  std::string state_directory = kStateDirectory;
  std::optional<std::string> log_directory;  // unset: kLogDirectory, or a non-default state directory itself
  HostPaths host;
  std::optional<std::string> source, interval;  // override the configuration
  LogLevel log_level = LogLevel::kInfo;
  bool check_config = false;
  std::optional<std::string> replay;   // divide this trace, and nothing else
  std::optional<std::uint64_t> every;  // print after this many of its samples
};

// The options, or the exit status: of --help and --version after printing them, of a usage error after
// reporting it.
std::variant<Options, int> parse_options(int argc, char** argv);

// The directory of the write-ahead log.
std::string log_directory(const Options& options);

// The settings resulting from these options: configuration files, then the command line.
Result<LoadedSettings> load_effective_settings(const Options& options);

}  // namespace keplerd
