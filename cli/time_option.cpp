// SPDX-License-Identifier: Apache-2.0
#include "cli/time_option.h"

#include <CLI/CLI.hpp>

#include "config/time_span.h"

namespace keplerd::cli {
namespace {

std::string check_time(const std::string& text) {
  return parse_time_span(text)
             ? ""
             : "invalid time span '" + text + "' (expected a value like 500ms or \"1min 30s\")";
}

}  // namespace

void add_time_option(CLI::App& app, const std::string& name, std::string& text,
                     const std::string& description) {
  app.add_option(name, text, description)->type_name("TIME")->check(check_time);
}

}  // namespace keplerd::cli
