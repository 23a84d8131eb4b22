// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "base/text.h"
#include "cli/parser.h"
#include "cli/words.h"
#include "client/kinds.h"
#include "config/time_span.h"

namespace keplerd::cli {
namespace {

Options finish(const RawArguments& raw, bool on_terminal) {
  Options options = raw.options;
  if (raw.json == "pretty") options.json = JsonMode::kPretty;
  if (raw.json == "short") options.json = JsonMode::kShort;
  if (raw.default_json) options.json = on_terminal ? JsonMode::kPretty : JsonMode::kShort;
  const std::string& output = raw.output;
  if (output == "json-pretty") options.json = JsonMode::kPretty;
  if (output == "json" || output == "json-short" || output == "json-seq") options.json = JsonMode::kShort;
  if (output == "json") options.framing = Framing::kLines;
  if (output == "json-seq") options.framing = Framing::kSequence;
  options.csv = output == "csv";
  if (output == "waybar") options.bar = BarFormat::kWaybar;
  if (output == "i3blocks") options.bar = BarFormat::kI3blocks;
  options.legend = !raw.no_legend;
  options.pager = !raw.no_pager;
  if (raw.limit > 0) options.limit = raw.limit;
  if (raw.count > 0) options.count = raw.count;
  if (!raw.interval.empty()) options.interval = parse_time_span(raw.interval);
  record::RecordOptions& record = options.record;
  if (!raw.duration.empty()) record.duration = parse_time_span(raw.duration).value_or(record.duration);
  if (!raw.calibrate_for.empty())
    options.calibrate.duration = parse_time_span(raw.calibrate_for).value_or(options.calibrate.duration);
  if (!raw.max_size.empty()) record.max_size = record::parse_size(raw.max_size).value_or(record.max_size);
  if (!raw.cgroupfs.empty()) options.host.cgroupfs = raw.cgroupfs;
  if (const client::KindInfo* kind = client::find_kind(options.kind)) options.kind = kind->plural;
  return options;
}

// "; did you mean 'units'?"
std::string suggestion(const std::string& word, std::string_view prefix) {
  std::vector<std::string> words = known_words();
  std::erase_if(words, [&](const std::string& known) {
    return prefix.empty() ? known.starts_with('-') : !known.starts_with(prefix);
  });
  const auto similar = similar_word(word, words);
  return similar ? "; did you mean '" + *similar + "'?" : "";
}

// CLI11 reports an unknown verb as an unexpected argument.
std::string error_text(const CLI::App& app, const CLI::ParseError& error) {
  const bool extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const std::vector<std::string> remaining = app.remaining(true);
  if (!extras || remaining.empty()) {
    const std::string text = error.what();
    constexpr std::string_view kArgument =
        "KIND: ";  // an option's error begins with its name, which users typed
    return text.starts_with(kArgument) ? text.substr(kArgument.size()) : text;
  }
  const std::string first = escape_name(remaining.front());
  if (first.starts_with('-') && first != "-") {
    return "unknown option '" + first + "'" + suggestion(first.substr(0, first.find('=')), "--");
  }
  if (app.get_subcommands().empty()) return "unknown verb '" + first + "'" + suggestion(first, "");
  return "unexpected argument '" + first + "'";
}

bool takes_value(const CLI::App& app, std::string_view option) {
  for (const CLI::App* parser : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (const CLI::Option* found = parser->get_option_no_throw(std::string(option))) {
      return found->get_items_expected_min() > 0;
    }
  }
  const CLI::Option* found = app.get_option_no_throw(std::string(option));
  return found != nullptr && found->get_items_expected_min() > 0;
}

std::variant<Command, Answer> help_for(const CLI::App& app, const std::string& verb) {
  const auto text = [&](const CLI::App& of, const std::string& program) {
    return app.get_formatter()->make_help(&of, program, CLI::AppFormatMode::Normal);
  };
  if (verb.empty()) return Answer{text(app, app.get_name())};
  const auto words = verb_first({verb}, [](std::string_view) { return false; });
  for (const CLI::App* parser : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (parser->get_name() == words.front())
      return Answer{text(*parser, app.get_name() + " " + parser->get_name())};
  }
  return Answer{"unknown verb '" + escape_name(verb) + "'" + suggestion(verb, ""), true};
}

// What is wrong with --wall for this verb, which the parser accepts of every one; empty: nothing.
std::string wall_problem(const RawArguments& raw, const Verb& verb) {
  if (!raw.options.wall) return "";
  if (!verb.options.wall) return "--wall is not available for " + std::string(verb.name);
  if (raw.options.history.graph) return "--wall cannot be combined with --graph";
  if (raw.options.history.what == std::vector<std::string>{"export"})
    return "--wall is not available for export";
  const bool follows_host = verb.options.ticks && raw.options.kind.empty();
  return follows_host ? "--wall requires a KIND to follow" : "";
}

// What is wrong with the output that is requested of this verb; empty: nothing.
std::string output_problem(const RawArguments& raw, const Verb& verb) {
  const std::string& output = raw.output;
  if (!output.empty() && (!raw.json.empty() || raw.default_json))
    return "--output cannot be combined with --json or -j";
  if (output == "csv" && !verb.options.list && !verb.options.history && !verb.options.socket)
    return "--output: csv is available for lists, monitor, history, report and budgets only";
  if (output == "csv" && !raw.options.idle.empty()) return "--idle cannot be combined with --output=csv";
  const bool for_bar = output == "waybar" || output == "i3blocks";
  if (for_bar && !verb.options.ticks) return "--output: " + output + " is available for monitor only";
  if (for_bar && !raw.options.kind.empty())
    return "--output: " + output + " shows the host, or what --of names, not all " + raw.options.kind;
  if (!for_bar && !raw.options.of.empty()) return "--of requires --output=waybar or --output=i3blocks";
  return "";
}

// Returns what is wrong with them; empty: nothing.
std::string add_hosts(Command& command, const std::vector<std::string>& names) {
  if (names.empty()) return "";
  if (!command.verb->options.hosts) return "--host is available for status, top, report and the lists only";
  if (!command.options.idle.empty()) return "--idle cannot be combined with --host";
  if (command.options.tree) return "--tree cannot be combined with --host";
  if (command.options.history.functional_units > 0) return "--functional-unit cannot be combined with --host";
  auto hosts = fleet::parse_hosts(names);
  if (!hosts) return hosts.error().message;
  command.options.hosts = *std::move(hosts);
  return "";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::variant<Command, Answer> parse_arguments(const std::vector<std::string>& arguments, bool on_terminal) {
  RawArguments raw;
  const auto app = make_parser(raw);
  std::vector<std::string> command;  // of `run`
  try {
    const auto has_value = [&](std::string_view option) { return takes_value(*app, option); };
    std::vector<std::string> reversed = verb_first(arguments, has_value);
    if (!reversed.empty() && reversed.front() == "run") command = run::cut_command(reversed, has_value);
    std::ranges::reverse(reversed);  // CLI11 takes them from the back
    app->parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    return Answer{app->help()};
  } catch (const CLI::CallForVersion& version) {
    return Answer{std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    return Answer{first_line(error_text(*app, error)), true};
  }
  const auto chosen = app->get_subcommands();
  const std::string name = chosen.empty() ? "" : chosen.front()->get_name();
  if (name == "help") return help_for(*app, raw.help_for);
  const auto named = std::ranges::find(verbs(), name, &Verb::name);
  const Verb& verb = named == verbs().end() ? default_verb() : *named;
  if (const std::string problem = output_problem(raw, verb); !problem.empty()) return Answer{problem, true};
  if (const std::string problem = wall_problem(raw, verb); !problem.empty()) return Answer{problem, true};
  Command parsed{&verb, finish(raw, on_terminal)};
  if (const std::string problem = add_hosts(parsed, raw.hosts); !problem.empty())
    return Answer{problem, true};
  if (verb.options.run) {
    parsed.options.run = run::finish_options(raw.run, std::move(command));
    if (const std::string problem = run::usage_problem(parsed.options.run); !problem.empty())
      return Answer{problem, true};
  }
  return parsed;
}

std::vector<std::string> known_words() {
  RawArguments raw;
  const auto app = make_parser(raw);
  std::vector<std::string> words;
  const auto add_options = [&words](const CLI::App& parser) {
    for (const CLI::Option* option : parser.get_options()) {
      for (const std::string& name : option->get_snames()) words.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    }
  };
  add_options(*app);
  for (const CLI::App* parser : app->get_subcommands([](const CLI::App*) { return true; })) {
    words.push_back(parser->get_name());
    add_options(*parser);
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

}  // namespace keplerd::cli
