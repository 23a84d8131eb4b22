// SPDX-License-Identifier: Apache-2.0
// keplerd-resctrl [DIRECTORY [SYS [PROC [CGROUP]]]]: publishes how much cgroups read from memory and write to
// it, and what the cores draw for them, as far as the monitoring groups of resctrl count it. A process of its
// own, because reading their counters may sleep, takes a lock that others hold for long, and interrupts other
// CPUs.
#include <array>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "event/stderr_log.h"
#include "host/host_root.h"
#include "meters/counts/pause.h"
#include "meters/meter_writer.h"
#include "meters/resctrl/reader.h"
#include "meters/usage_writer.h"

namespace {

keplerd::Nanoseconds read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + keplerd::Nanoseconds(time.tv_nsec);
}

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
  const std::string directory = argc > 1 ? argv[1] : "/run/keplerd-usage/resctrl";
  HostPaths paths{.sysfs = argc > 2 ? argv[2] : "/sys", .procfs = argc > 3 ? argv[3] : "/proc"};
  if (argc > 4) paths.cgroupfs = argv[4];
  const auto host = HostRoot::open(paths);
  if (!host) {
    stderr_log::log_error(host.error().message);
    return EXIT_FAILURE;
  }
  resctrl::Reader reader(*host);
  Problems problems;
  while (true) {
    const Nanoseconds before = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    const auto written = meters::write_usage(directory, reader.read(read_clock(CLOCK_BOOTTIME)));
    if (!written) {
      stderr_log::log_error(written.error().message);
      return EXIT_FAILURE;
    }
    problems.report(reader);
    meters::pause(meters::pause_after(read_clock(CLOCK_PROCESS_CPUTIME_ID) - before));
  }
}
