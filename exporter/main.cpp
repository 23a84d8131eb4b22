// SPDX-License-Identifier: Apache-2.0
// keplerd-exporter: exposes keplerd's data to Prometheus. A separate process, because keplerd holds a
// capability and needs no network, while this one listens and needs no privileges.
#include <cstdlib>
#include <exception>
#include <iostream>

#include <sysexits.h>

#include "event/stderr_log.h"
#include "exporter/exporter.h"

namespace {

using namespace keplerd;

int run(const exporter::Options& options) {
  exporter::http::WebConfig web;
  if (!options.web_config.empty()) {
    auto loaded = exporter::http::load_web_config(options.web_config);
    if (!loaded) {
      std::cerr << loaded.error().message << '\n';
      return EX_CONFIG;
    }
    web = *std::move(loaded);
  }
  exporter::Exporter exporter(options, std::move(web));
  if (const auto started = exporter.start(); !started) {
    stderr_log::log_error(started.error().message);
    return EXIT_FAILURE;
  }
  return exporter.run();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto options = exporter::parse_options(argc, argv);
    if (const int* const status = std::get_if<int>(&options)) return *status;
    return run(std::get<exporter::Options>(options));
  } catch (const std::exception& exception) {
    std::cerr << "keplerd-exporter: " << exception.what() << '\n';
    return EXIT_FAILURE;
  }
}
