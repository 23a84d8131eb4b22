// SPDX-License-Identifier: Apache-2.0
#include "cli/run/arguments.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "base/parse.h"
#include "cli/run/properties.h"
#include "cli/run/scope.h"
#include "cli/time_option.h"
#include "cli/words.h"
#include "config/time_span.h"

namespace keplerd::cli::run {
namespace {

std::string check_count(const std::string& text) {
  constexpr std::size_t kMost = 100'000;
  const auto count = parse_number<std::size_t>(text);
  return count && *count > 0 && *count <= kMost ? "" : "invalid number '" + text + "' (expected 1 to 100000)";
}

std::string check_energy(const std::string& text) {
  return parse_energy(text) ? "" : "invalid energy '" + text + "' (expected a value like 500J, 5kJ or 2Wh)";
}

template <class Value>
std::string message_of(const Result<Value>& result) {
  return result ? "" : result.error().message;
}

std::string check_property(const std::string& text) { return message_of(parse_property(text)); }
std::string check_unit(const std::string& text) { return message_of(scope_name(text)); }
std::string check_slice(const std::string& text) { return message_of(slice_name(text)); }

void declare_scope(CLI::App& app, RunOptions& options) {
  app.add_flag("--system", options.system,
               "Start the scope with the manager of the system (default for root)");
  app.add_flag("--user", options.user, "Start the scope with the manager of the user (default for users)");
  app.add_option("--unit", options.unit, "Name of the scope")->type_name("NAME")->check(check_unit);
  app.add_option("--slice", options.slice, "Slice of the scope")->type_name("SLICE")->check(check_slice);
  app.add_option("-p,--property", options.properties, "Set a property of the scope")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->check(check_property);
  app.add_flag("--wait", options.wait, "Wait until the scope is empty, not only for the command");
}

}  // namespace

void declare_options(CLI::App& app, RawOptions& raw) {
  RunOptions& options = raw.options;
  declare_scope(app, options);
  app.add_option("-r,--repeat", options.repeat, "Run the command N times")
      ->type_name("N")
      ->check(check_count);
  app.add_option("--warmup", options.warmup, "Run it N times before, without measuring")
      ->type_name("N")
      ->check(check_count);
  app.add_option("--prepare", options.prepare, "Run this with sh before each run, without measuring")
      ->type_name("COMMAND");
  add_time_option(app, "--delay", raw.delay, "Wait before each run");
  app.add_option("--attach", options.attach, "Measure this unit, process or VM instead of a command")
      ->type_name("ID");
  add_time_option(app, "--for", raw.attached_for,
                  "Measure it for so long (default: until it ends or Ctrl-C)");
  app.add_flag("--include-idle", options.include_idle, "Include the idle energy that Idle= places on it");
  app.add_option("--report", options.report, "Write the report to this file instead of standard error")
      ->type_name("FILE");
  app.add_option("--compare", options.compare, "Compare with an earlier report, written as JSON")
      ->type_name("FILE");
  app.add_option("--label", options.label, "Name of this phase in the report")->type_name("NAME");
  app.add_option("--append", options.append, "Append the report to a file of phases")->type_name("FILE");
  app.add_option("--summary", options.summary, "Show a file of phases, and run nothing")->type_name("FILE");
  app.add_option("--max-energy", raw.max_energy, "Exit with 3 if a successful command used more")
      ->type_name("ENERGY")
      ->check(check_energy);
  app.add_option("--cost-config", options.cost_config, "Read price and emissions from this file")
      ->type_name("FILE");
  // For the help alone: cut_command() has taken it.
  app.add_option("COMMAND", options.command, "The command and its arguments");
}

RunOptions finish_options(const RawOptions& raw, std::vector<std::string> command) {
  RunOptions options = raw.options;
  options.command = std::move(command);
  if (!raw.delay.empty()) options.delay = parse_time_span(raw.delay).value_or(Nanoseconds{0});
  if (!raw.attached_for.empty()) options.attached_for = parse_time_span(raw.attached_for);
  if (!raw.max_energy.empty()) options.max_energy = parse_energy(raw.max_energy);
  return options;
}

namespace {

// The first option that is of a command, or of its scope.
std::string_view option_of_commands(const RunOptions& options) {
  if (options.system) return "--system";
  if (options.user) return "--user";
  if (!options.unit.empty()) return "--unit";
  if (!options.slice.empty()) return "--slice";
  if (!options.properties.empty()) return "--property";
  if (options.wait) return "--wait";
  if (options.repeat > 1) return "--repeat";
  if (options.warmup > 0) return "--warmup";
  if (!options.prepare.empty()) return "--prepare";
  return options.delay.count() > 0 ? "--delay" : "";
}

std::string attach_problem(const RunOptions& options) {
  if (!options.command.empty()) return "--attach does not run a command";
  const std::string_view other = option_of_commands(options);
  return other.empty() ? "" : "--attach and " + std::string(other) + " cannot be combined";
}

}  // namespace

std::string usage_problem(const RunOptions& options) {
  if (!options.summary.empty() && !options.attach.empty()) return "--summary and --attach cannot be combined";
  if (!options.summary.empty()) return options.command.empty() ? "" : "--summary does not run a command";
  if (!options.attach.empty()) return attach_problem(options);
  if (options.attached_for) return "--for requires --attach";
  if (options.command.empty() || options.command.front().empty()) return "no command to run";
  if (options.system && options.user) return "--system and --user cannot be combined";
  return "";
}

std::vector<std::string> cut_command(std::vector<std::string>& words,
                                     const std::function<bool(std::string_view)>& takes_value) {
  std::size_t end = 1;
  for (; end < words.size() && words[end].starts_with('-') && words[end] != "-" && words[end] != "--";
       ++end) {
    if (expects_value(words[end], takes_value)) ++end;
  }
  end = std::min(end, words.size());
  std::size_t first = end;
  if (first < words.size() && words[first] == "--") ++first;
  std::vector<std::string> command(words.begin() + static_cast<std::ptrdiff_t>(first), words.end());
  words.resize(end);
  return command;
}

}  // namespace keplerd::cli::run
