// SPDX-License-Identifier: Apache-2.0
#include "exporter/options.h"

#include <algorithm>
#include <iostream>
#include <optional>

#include <CLI/CLI.hpp>

#include "base/parse.h"
#include "exporter/http/listen.h"

namespace keplerd::exporter {
namespace {

constexpr int kUsageError = 2;
constexpr std::size_t kMostProcesses = 1000;

int usage_error(const std::string& message) {
  std::cerr << "keplerd-exporter: " << message << '\n';
  return kUsageError;
}

// What the command line leaves open until all of it has been read.
struct Given {
  std::string serve;
  std::optional<std::size_t> processes;
};

void add_options(CLI::App& app, Options& options, Given& given) {
  app.add_option("--varlink", options.varlink, "Socket of keplerd")
      ->type_name("ADDRESS")
      ->capture_default_str();
  app.add_option("--listen", options.listen, "Address to listen on, if systemd has not passed a socket")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--web-config", options.web_config,
                 "TLS and passwords, in the format of Prometheus exporters")
      ->type_name("FILE");
  app.add_option("--cost-config", options.cost_config, "Read price and emissions from this file")
      ->type_name("FILE");
  app.add_option("--history", options.history, "Socket of keplerd-history, for budgets")
      ->type_name("ADDRESS")
      ->capture_default_str();
  app.add_option("--serve", given.serve,
                 "Export to everyone: host, units, vms, containers, pods, processes, budgets, or all")
      ->type_name("LIST");
  app.add_option("--processes", given.processes,
                 "Export the N processes that used the most energy recently, and the rest combined "
                 "(default: 20 if --serve includes processes)")
      ->type_name("N");
  app.set_version_flag("--version", "keplerd-exporter " KEPLERD_VERSION, "Print the version and exit");
}

}  // namespace

Result<Served> parse_served(std::string_view list) {
  Served served;
  while (!list.empty()) {
    const std::string_view name = take_until(list, ',');
    const auto found = std::ranges::find_if(client::kKinds, [name](const client::KindInfo& kind) {
      return name == (kind.kind == client::Kind::kZones ? "host" : kind.plural);
    });
    if (found != client::kKinds.end()) {
      served.kinds.set(index_of(found->kind));
    } else if (name == "budgets") {
      served.budgets = true;
    } else if (name == "all") {
      served.kinds.set();
      served.budgets = true;
    } else {
      return Error{"'" + std::string(name) +
                   "': expected host, units, vms, containers, pods, processes, budgets or all"};
    }
  }
  return served;
}

std::variant<Options, int> parse_options(int argc, char** argv) {
  Options options;
  Given given;
  CLI::App app("Exports the measurements of keplerd to Prometheus.", "keplerd-exporter");
  add_options(app, options, given);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
    return usage_error(error.what());
  }
  const auto served = parse_served(given.serve);
  if (!served) return usage_error("--serve " + served.error().message);
  options.serve = *served;
  const bool serves_processes = options.serve.kinds.test(index_of(client::Kind::kProcesses));
  options.processes = given.processes.value_or(serves_processes ? kServedProcesses : 0);
  if (options.processes > kMostProcesses) return usage_error("--processes: at most 1000");
  if (const auto place = http::parse_place(options.listen); !place) {
    return usage_error("--listen " + place.error().message);
  }
  return options;
}

}  // namespace keplerd::exporter
