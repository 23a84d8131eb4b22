// SPDX-License-Identifier: Apache-2.0
#include "cli/context.h"

#include <algorithm>

#include "cli/output/pager.h"

namespace keplerd::cli {

int Context::fail(std::string_view message, ExitStatus status) const {
  err << "keplerctl: " << message << "\n";
  return status;
}

void Context::show(std::string_view text) const {
  const bool wanted = terminal.is_terminal && !terminal.dumb && options.pager && terminal.pager != "";
  const bool is_long = std::count(text.begin(), text.end(), '\n') >= terminal.height;
  if (wanted && is_long && show_in_pager(text, terminal.pager)) return;
  out << text;
}

TableStyle Context::table_style() const {
  TableStyle style{.header = options.legend,
                   .bold_header = terminal.colour,
                   .width = {},
                   .unicode = terminal.unicode,
                   .hints = !options.quiet};
  if (terminal.is_terminal && !options.full) style.width = terminal.width;
  return style;
}

}  // namespace keplerd::cli
