// SPDX-License-Identifier: Apache-2.0
// keplerd-perf [--config FILE] [--task-clock] [DIRECTORY [SYS [PROC [CGROUP]]]]: publishes what the counters
// of processors count for cgroups (keplerd.conf(5), section [Perf]). A process of its own, because it may
// count any event of any process, which keplerd should not. --task-clock: nanoseconds of the kernel's clock
// in place of instructions, for tests on hosts without counters.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#include "event/stderr_log.h"
#include "host/cpuinfo.h"
#include "meters/counts/program.h"
#include "meters/perf/reader.h"

namespace {

using namespace keplerd;

constexpr std::size_t kOtherDescriptors = 64;  // that are not those of counters

// As many as the service may have, whatever the soft limit is.
std::size_t raise_descriptors(std::size_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  const auto most = static_cast<std::size_t>(limit.rlim_cur);
  return std::min(wanted, most > kOtherDescriptors ? most - kOtherDescriptors : 0);
}

// What has changed since the last reading, once.
class Log {
 public:
  void report(const perf::Reader& reader) {
    if (reader.problem() != problem_ && !reader.problem().empty()) stderr_log::log_warning(reader.problem());
    problem_ = reader.problem();
    if (reader.measured() > 0 && measured_ == 0)
      stderr_log::log_info(fmt::format("Counting events for {} cgroups", reader.measured()));
    measured_ = reader.measured();
  }

 private:
  std::string problem_;
  std::size_t measured_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  meters::Arguments arguments(argc, argv);
  const bool by_clock = arguments.take("--task-clock");
  const auto loaded = arguments.settings();
  if (!loaded) return meters::fail(loaded.error());
  const auto host = arguments.host(1);
  if (!host) return meters::fail(host.error());
  const std::vector<perf::Event> events =
      by_clock ? perf::task_clock()
               : perf::events_for(loaded->settings.attribution.share,
                                  cpuinfo_field(read_cpuinfo(*host), "vendor_id").value_or(""));
  if (events.empty()) {
    stderr_log::log_info(
        "There is nothing to count: cache misses are only counted on Intel's processors, and instructions or "
        "cycles only with Share=instructions or Share=cycles");
    return EXIT_SUCCESS;
  }
  const PerfSettings& settings = loaded->settings.perf;
  perf::Reader reader(*host, {.patterns = settings.cgroups,
                              .descriptors = raise_descriptors(settings.descriptors),
                              .events = events});
  Log log;
  return meters::publish_counts(arguments.path(0, "/run/keplerd-usage/perf"), [&](Nanoseconds now) {
    auto texts = reader.read(now);
    log.report(reader);
    return texts;
  });
}
