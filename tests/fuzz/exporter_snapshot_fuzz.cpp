// SPDX-License-Identifier: Apache-2.0
// What the exporter makes of keplerd's replies, one a line, of which the first byte is the kind: whatever
// they contain, the page consists of comments and of lines with a name, labels and a number.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/parse.h"
#include "base/text.h"
#include "exporter/metrics/render.h"
#include "varlink/json.h"
#include "varlink/parse_json.h"

namespace {

using namespace keplerd;
using namespace keplerd::exporter;

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.-") == std::string_view::npos;
}

// Labels may contain blanks: the number is what follows the last one.
void check_page(std::string_view page, Format format) {
  require(page.ends_with('\n'));
  while (!page.empty()) {
    const std::string_view line = take_until(page, '\n');
    require(!line.empty());
    for (std::string_view rest = line; !rest.empty();) {
      const auto character = first_character(rest);
      require(character.has_value() && character->code_point >= 0x20);
      rest.remove_prefix(character->length);
    }
    if (line.starts_with('#')) continue;
    const auto blank = line.rfind(' ');
    require(blank != std::string_view::npos && is_number(line.substr(blank + 1)));
    const std::string_view name = line.substr(0, line.find_first_of("{ "));
    require(name.starts_with("kepler") || name.starts_with("process_"));
  }
  (void)format;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  Snapshot snapshot;
  TopProcesses processes(3);
  while (!rest.empty()) {
    std::string_view line = take_until(rest, '\n');
    if (line.empty()) continue;
    const auto& kind = client::kKinds[static_cast<std::uint8_t>(line[0]) % client::kKinds.size()].kind;
    line.remove_prefix(1);
    const auto reply = varlink::parse_json(line);
    if (!reply) {
      snapshot.forget(kind);
      continue;
    }
    snapshot.apply(kind, *reply);
    processes.take(snapshot.processes());
    if (snapshot.are_processes_current()) processes.balance(snapshot.active());
  }
  for (const Format format : {Format::kText, Format::kOpenMetrics}) {
    const Rendered rendered = render_metrics({.snapshot = snapshot,
                                              .processes = processes,
                                              .processors = {},
                                              .node_name = "host",
                                              .version = "1",
                                              .architecture = "amd64",
                                              .up = true,
                                              .own = {},
                                              .most_series_of_kind = 5},
                                             format);
    check_page(rendered.text, format);
  }
  return 0;
}
