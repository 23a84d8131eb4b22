// SPDX-License-Identifier: Apache-2.0
// What a verb is given: what was asked for, and where its answer goes.
#pragma once

#include <ostream>
#include <string_view>

#include "cli/exit_status.h"
#include "cli/options.h"
#include "cli/output/json.h"
#include "cli/output/table.h"
#include "cli/output/terminal.h"

namespace keplerd::cli {

struct Context {
  const Options& options;
  const Terminal& terminal;
  std::ostream& out;
  std::ostream& err;

  // "keplerctl: MESSAGE" on the error stream; yields `status`.
  int fail(std::string_view message, ExitStatus status = kFailed) const;

  // The whole answer, through a pager where it is longer than the terminal. The width is cut by who made it.
  void show(std::string_view text) const;
  void show_json(const varlink::Json& value) const { out << json_text(value, options.json); }

  bool wants_json() const { return options.json != JsonMode::kOff; }
  TableStyle table_style() const;
};

}  // namespace keplerd::cli
