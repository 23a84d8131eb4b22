// SPDX-License-Identifier: Apache-2.0
#include "cli/parser.h"

#include <algorithm>
#include <array>

#include <CLI/CLI.hpp>

#include "base/parse.h"
#include "cli/rows.h"
#include "cli/time_option.h"
#include "cli/verb.h"
#include "client/kinds.h"
#include "client/row_set.h"
#include "config/settings.h"

namespace keplerd::cli {
namespace {

constexpr std::array kFormats = {"table",    "json", "json-pretty", "json-short",
                                 "json-seq", "csv",  "waybar",      "i3blocks"};

std::string check_positive(const std::string& text) {
  return parse_number<std::size_t>(text).value_or(0) > 0
             ? ""
             : "invalid number '" + text + "' (expected a positive integer)";
}

std::string check_size(const std::string& text) {
  return record::parse_size(text) ? ""
                                  : "invalid size '" + text + "' (expected a value like 500K, 64M or 2G)";
}

std::string check_kind(const std::string& text) {
  return client::find_kind(text) != nullptr
             ? ""
             : "unknown kind '" + text + "' (expected " + client::kind_list(&client::KindInfo::plural) + ")";
}

std::string check_sort(const std::string& text) {
  const auto& keys = client::sort_keys();
  if (std::find(keys.begin(), keys.end(), text) != keys.end()) return "";
  return "invalid sort key '" + text + "' (expected energy, power, cpu, name or id)";
}

std::string type_list() {
  std::string out;
  for (const std::string& type : unit_types()) {
    out += (out.empty() ? "" : &type == &unit_types().back() ? " or " : ", ") + type;
  }
  return out;
}

std::string check_type(const std::string& text) {
  const auto& types = unit_types();
  if (std::ranges::find(types, text) != types.end()) return "";
  return "unknown unit type '" + text + "' (expected " + type_list() + ")";
}

std::string check_policy(const std::string& text) {
  return parse_idle_policy(text)
             ? ""
             : "unknown idle policy '" + text + "' (expected separate, equal, size or usage)";
}

std::string check_output(const std::string& text) {
  for (const char* format : kFormats) {
    if (text == format) return "";
  }
  return "invalid format '" + text +
         "' (expected table, json, json-pretty, json-short, json-seq, csv, waybar or i3blocks)";
}

std::string check_json(const std::string& text) {
  if (text == "pretty" || text == "short" || text == "off") return "";
  return "invalid mode '" + text + "' (expected pretty, short or off)";
}

void declare_global(CLI::App& app, RawArguments& raw) {
  app.set_help_flag("-h,--help", "Show this help");
  app.set_version_flag("--version", std::string("keplerctl ") + KEPLERD_VERSION, "Show the version");
  app.add_option("--varlink", raw.options.address, "Socket of keplerd")->type_name("ADDRESS");
  app.add_option("-H,--host", raw.hosts, "Ask these hosts over ssh instead of this one")
      ->type_name("HOSTS")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--json", raw.json, "Write JSON: pretty, short or off")
      ->type_name("MODE")
      ->check(check_json);
  app.add_flag("-j", raw.default_json, "Same as --json=pretty on a terminal, --json=short otherwise");
  app.add_option("-o,--output", raw.output,
                 "Output format: table, json, json-pretty, json-short, json-seq, csv, waybar or i3blocks")
      ->type_name("FORMAT")
      ->check(check_output);
  app.add_flag("-l,--full", raw.options.full, "Do not shorten names or leave out columns");
  app.add_flag("-q,--quiet", raw.options.quiet, "Do not print hints");
  app.add_flag("--no-legend", raw.no_legend, "Do not print headers and footers");
  app.add_flag("--no-pager", raw.no_pager, "Do not use a pager");
}

void declare_list(CLI::App& app, RawArguments& raw, bool short_limit) {
  app.add_option(short_limit ? "-n,--limit" : "--limit", raw.limit, "Show at most N rows")
      ->type_name("N")
      ->check(check_positive);
  app.add_option("--sort", raw.options.sort,
                 "Sort by power (the default of tables), energy (that of JSON), cpu, name or id")
      ->type_name("KEY")
      ->check(check_sort);
  app.add_flag("-a,--all", raw.options.all, "Include ended rows in tables");
}

void declare_record(CLI::App& app, RawArguments& raw) {
  record::RecordOptions& options = raw.options.record;
  app.add_option("FILE", options.file, "The trace: a new file, or one to append to")->required();
  add_time_option(app, "--duration", raw.duration, "Stop after TIME (default: 1h)");
  app.add_option("--max-size", raw.max_size, "Stop before the file exceeds SIZE (default: 1G)")
      ->type_name("SIZE")
      ->check(check_size);
  add_time_option(app, "--interval", raw.interval, "Time between two samples, if shorter than keplerd's");
  app.add_flag("--anonymize", options.anonymize, "Replace the names of workloads by hashes");
}

void declare_calibrate(CLI::App& app, RawArguments& raw) {
  calibrate::CalibrateOptions& options = raw.options.calibrate;
  app.add_option("WHAT", options.what, "What to measure: idle")->required()->check(CLI::IsMember({"idle"}));
  add_time_option(app, "--for", raw.calibrate_for, "Measure for TIME (default: 1min)");
  app.add_option("--output-file", options.output, "Write FILE instead of a drop-in of keplerd.conf")
      ->type_name("FILE");
  app.add_flag("--dry-run", options.dry_run, "Only measure");
  app.add_flag("--undo", options.undo, "Remove what an earlier calibration has written");
}

void declare_history_socket(CLI::App& app, RawArguments& raw) {
  app.add_option("--history", raw.options.history.address, "Socket of keplerd-history")->type_name("ADDRESS");
}

void declare_history(CLI::App& app, const VerbOptions& accepts, RawArguments& raw) {
  history::HistoryOptions& options = raw.options.history;
  const auto add = [&app](const char* name, std::string& value, const char* description, const char* type) {
    return app.add_option(name, value, description)->type_name(type);
  };
  if (accepts.subject) {
    app.add_option("SUBJECT", options.what, "A kind, an id or a name, or both; default: the host")
        ->expected(0, 2);
    add("--step", options.step, "One row for each 5min, hour, day or month", "STEP")
        ->check(CLI::IsMember({"5min", "hour", "day", "month"}));
    app.add_flag("--graph", options.graph, "Show the power as a graph instead of a table");
  }
  if (accepts.by) {
    add("--by", options.by, "Divide by unit (default), slice, user, vm, project, container or pod", "WHAT")
        ->check(CLI::IsMember({"unit", "slice", "user", "vm", "project", "container", "pod"}));
    app.add_option("--functional-unit", options.functional_units,
                   "Show the Software Carbon Intensity for N functional units")
        ->type_name("N")
        ->check(check_positive);
  }
  add("--month", options.month, "The whole month, like 2026-11", "MONTH");
  add("--day", options.day, "The whole day, like 2026-11-24, today or yesterday", "DAY");
  add("--since", options.since, "Begin at TIME", "TIME");
  add("--until", options.until, "End at TIME (default: now)", "TIME");
  declare_history_socket(app, raw);
}

void declare(CLI::App& app, const VerbOptions& accepts, RawArguments& raw) {
  if (accepts.list) declare_list(app, raw, !accepts.ticks);
  if (accepts.units) {
    app.add_flag("--tree", raw.options.tree, "Show all cgroups, each below its parent");
    app.add_option("--type", raw.options.types, "Show units of these types: " + type_list())
        ->type_name("LIST")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(check_type);
  }
  if (accepts.wall) app.add_flag("--wall", raw.options.wall, "Show the power at the plug, by a model");
  if (accepts.idle) {
    app.add_option("--idle", raw.options.idle,
                   "Also show the power under another idle policy: separate, equal, size or usage")
        ->type_name("POLICY")
        ->check(check_policy);
  }
  if (accepts.ticks) {
    app.add_option("-n,--count", raw.count, "Exit after COUNT updates")
        ->type_name("COUNT")
        ->check(check_positive);
    add_time_option(app, "--interval", raw.interval, "Minimum time between two updates");
    app.add_option("--of", raw.options.of, "What a status bar shows: an id, a name, or session")
        ->type_name("ID");
  }
  if (accepts.kind)
    app.add_option("KIND", raw.options.kind, client::kind_list(&client::KindInfo::plural))->check(check_kind);
  if (accepts.verb) app.add_option("VERB", raw.help_for, "The verb to describe");
  if (accepts.id)
    app.add_option("ID", raw.options.id, "An id, a name, a PID, or the start of an id")->required();
  if (accepts.record) declare_record(app, raw);
  if (accepts.calibrate) declare_calibrate(app, raw);
  if (accepts.history) declare_history(app, accepts, raw);
  if (accepts.socket) declare_history_socket(app, raw);
  if (accepts.run) run::declare_options(app, raw.run);
  if (accepts.host) {
    app.add_option("--sysfs", raw.options.host.sysfs, "Read this instead of /sys")->type_name("DIR");
    app.add_option("--procfs", raw.options.host.procfs, "Read this instead of /proc")->type_name("DIR");
    app.add_option("--cgroupfs", raw.cgroupfs, "Read this instead of the mounted cgroup2")->type_name("DIR");
  }
  if (accepts.capture) {
    app.add_option("--capture", raw.options.capture, "Write what keplerd reads on this host to a new file")
        ->type_name("FILE");
  }
}

}  // namespace

std::unique_ptr<CLI::App> make_parser(RawArguments& raw) {
  auto app = std::make_unique<CLI::App>("Show how much energy this host and its workloads use.", "keplerctl");
  app->fallthrough();  // so that options of all verbs may follow the verb
  app->require_subcommand(0, 1);
  app->get_formatter()->label("SUBCOMMAND", "VERB");
  app->footer("See keplerctl(1) for details.");
  declare_global(*app, raw);
  declare(*app, default_verb().options, raw);
  for (const Verb& verb : verbs()) {
    CLI::App* parser = app->add_subcommand(std::string(verb.name), std::string(verb.help));
    parser->set_help_flag("-h,--help", "Show this help");
    parser->group("Verbs");
    declare(*parser, verb.options, raw);
  }
  return app;
}

}  // namespace keplerd::cli
