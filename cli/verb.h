// SPDX-License-Identifier: Apache-2.0
// The verbs of keplerctl. A new one is one file in verbs/ and one line in verb.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "cli/context.h"

namespace keplerd::cli {

// The options that a verb accepts besides the global ones.
struct VerbOptions {
  bool list = false;       // --limit, --sort, --all
  bool units = false;      // --tree, --type
  bool idle = false;       // --idle
  bool wall = false;       // --wall
  bool ticks = false;      // --count, --interval
  bool kind = false;       // [KIND]
  bool id = false;         // ID
  bool verb = false;       // [VERB]
  bool run = false;        // those of cli/run/options.h, and a COMMAND
  bool record = false;     // those of cli/record/options.h, and --interval
  bool host = false;       // --sysfs, --procfs, --cgroupfs
  bool capture = false;    // --capture
  bool calibrate = false;  // those of cli/calibrate/options.h
  bool history = false;    // those of cli/history/options.h that history and report have
  bool subject = false;    // [KIND] [ID], --step
  bool by = false;         // --by
  bool hosts = false;      // --host
  bool socket = false;     // --history
};

struct Verb {
  std::string_view name;
  std::string_view help;  // one line
  VerbOptions options;
  int (*run)(const Context&);                  // returns the exit status; unset: the parser answers
  std::vector<std::string_view> aliases = {};  // not in the help
};

const std::vector<Verb>& verbs();

// What runs without a verb; it has no name.
const Verb& default_verb();

int run_overview(const Context& context);
int run_status(const Context& context);
int run_units(const Context& context);
int run_vms(const Context& context);
int run_containers(const Context& context);
int run_pods(const Context& context);
int run_processes(const Context& context);
int run_zones(const Context& context);
int run_show(const Context& context);
int run_monitor(const Context& context);
int run_top(const Context& context);
int run_doctor(const Context& context);
int run_run(const Context& context);
int run_record(const Context& context);
int run_calibrate(const Context& context);
int run_history(const Context& context);
int run_report(const Context& context);
int run_apps(const Context& context);
int run_budgets(const Context& context);

}  // namespace keplerd::cli
