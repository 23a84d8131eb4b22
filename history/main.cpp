// SPDX-License-Identifier: Apache-2.0
// keplerd-history: records what keplerd measures, in a database. A separate process: keplerd never waits for
// a disk.
#include <cstdlib>
#include <exception>
#include <iostream>

#include <sys/stat.h>
#include <sysexits.h>

#include "event/stderr_log.h"
#include "history/history.h"

namespace {

using namespace keplerd;

int run(const history::Options& options) {
  const auto settings =
      options.config.empty() ? history::load_settings() : history::load_settings_file(options.config);
  if (!settings) {
    std::cerr << settings.error().message << '\n';
    return EX_CONFIG;
  }
  history::History history(options, *settings);
  if (const auto started = history.start(); !started) {
    stderr_log::log_error(started.error().message);
    return EXIT_FAILURE;
  }
  return history.run();
}

// Of a database that may be in use.
int copy(const history::Options& options) {
  ::umask(077);
  history::copy_database(options.state_directory + history::kDatabase, options.copy);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto options = history::parse_options(argc, argv);
    if (const int* const status = std::get_if<int>(&options)) return *status;
    const auto& parsed = std::get<history::Options>(options);
    return parsed.copy.empty() ? run(parsed) : copy(parsed);
  } catch (const std::exception& exception) {
    std::cerr << "keplerd-history: " << exception.what() << '\n';
    return EXIT_FAILURE;
  }
}
