// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <exception>
#include <iostream>

#include <sysexits.h>

#include "config/settings_table.h"
#include "daemon/daemon.h"
#include "daemon/log.h"
#include "daemon/options.h"
#include "daemon/replay.h"
#include "daemon/state_directory.h"
#include "host/descriptor_budget.h"

namespace {

int run(const keplerd::Options& options) {
  auto settings = keplerd::load_effective_settings(options);
  if (!settings) {
    std::cerr << settings.error().message << '\n';
    return EX_CONFIG;
  }
  if (options.check_config) {
    std::cout << keplerd::format_settings(settings->settings);
    return EXIT_SUCCESS;
  }
  if (options.replay) {
    const auto replayed =
        keplerd::replay_file({*options.replay, options.every}, settings->settings, std::cout, std::cerr);
    if (!replayed) std::cerr << "keplerd: " << replayed.error().message << '\n';
    return replayed ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  keplerd::open_log(options.log_level);
  keplerd::raise_descriptor_limit();
  auto host = keplerd::HostRoot::open(options.host);
  if (!host) {
    keplerd::log_error(host.error().message);
    return EXIT_FAILURE;
  }
  auto state_directory = keplerd::lock_state_directory(options.state_directory, keplerd::log_warning);
  if (!state_directory) {
    keplerd::log_error(state_directory.error().message);
    return EXIT_FAILURE;
  }
  keplerd::Daemon daemon(options, settings->settings, *std::move(host), *std::move(state_directory));
  if (const auto started = daemon.start(); !started) {
    keplerd::log_error(started.error().message);
    return EXIT_FAILURE;
  }
  return daemon.run();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto options = keplerd::parse_options(argc, argv);
    if (const int* const status = std::get_if<int>(&options)) return *status;
    return run(std::get<keplerd::Options>(options));
  } catch (const std::exception& exception) {
    std::cerr << "keplerd: " << exception.what() << '\n';
    return EXIT_FAILURE;
  }
}
