// SPDX-License-Identifier: Apache-2.0
// keplerd-resctrl [DIRECTORY [SYS [PROC [CGROUP]]]]: publishes how much cgroups read from memory and write to
// it, and what the cores draw for them, as far as the monitoring groups of resctrl count it. A process of its
// own, because reading their counters may sleep, takes a lock that others hold for long, and interrupts other
// CPUs.
#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "event/stderr_log.h"
#include "meters/counts/program.h"
#include "meters/resctrl/groups.h"
#include "meters/resctrl/reader.h"

namespace {

// What has changed since the last reading, once.
class Problems {
 public:
  void report(const keplerd::resctrl::Reader& reader) {
    for (std::size_t i = 0; i < last_.size(); ++i) report(reader, keplerd::resctrl::kCounted[i], last_[i]);
  }

 private:
  static void report(const keplerd::resctrl::Reader& reader, const keplerd::resctrl::Counted& counted,
                     std::optional<std::string>& last) {
    const std::string& problem = reader.problem(counted.kind);
    if (problem == last) return;
    if (!problem.empty()) {
      keplerd::stderr_log::log_warning(fmt::format("The {} is not known: {}", counted.what, problem));
    } else if (last) {
      keplerd::stderr_log::log_info(fmt::format("The {} is known again", counted.what));
    }
    last = problem;
  }

  std::array<std::optional<std::string>, keplerd::resctrl::kCounted.size()> last_;
};

}  // namespace

int main(int argc, char** argv) {
  using namespace keplerd;
  const meters::Arguments arguments(argc, argv);
  const auto host = arguments.host(1);
  if (!host) return meters::fail(host.error());
  resctrl::Reader reader(*host);
  Problems problems;
  return meters::publish_counts(arguments.path(0, "/run/keplerd-usage/resctrl"), [&](Nanoseconds now) {
    auto texts = reader.read(now);
    problems.report(reader);
    return texts;
  });
}
