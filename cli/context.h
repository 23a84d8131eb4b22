// SPDX-License-Identifier: Apache-2.0
// The context of a verb: the parsed options, and where its output goes.
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

  // "keplerctl: MESSAGE" on the error stream; returns `status`.
  int fail(std::string_view message, ExitStatus status = kFailed) const;

  // Prints the whole output, through a pager if it is longer than the terminal. The caller limits its width.
  void show(std::string_view text) const;
  void show_json(const varlink::Json& value) const {
    out << framed_json_text(value, options.json, options.framing == Framing::kSequence);
  }

  bool wants_json() const { return options.json != JsonMode::kOff; }
  TableStyle table_style() const;
};

}  // namespace keplerd::cli
