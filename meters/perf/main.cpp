// SPDX-License-Identifier: Apache-2.0
// keplerd-perf [--config FILE] [--task-clock] [DIRECTORY [SYS [PROC [CGROUP]]]]: publishes what the counters
// of the processor count of cgroups (keplerd.conf(5), section [Perf]). A process of its own, because it may
// count any event of any process, which keplerd should not. --task-clock: nanoseconds of the kernel's clock
// in place of the processor's events, for tests on hosts without counters.
#include <array>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#include "config/load.h"
#include "event/stderr_log.h"
#include "host/host_root.h"
#include "meters/counts/pause.h"
#include "meters/meter_writer.h"
#include "meters/perf/reader.h"
#include "meters/usage_writer.h"
#include "usage/processors.h"

namespace {

using namespace keplerd;

constexpr std::size_t kOtherDescriptors = 64;  // that are not those of counters

Nanoseconds read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

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
  std::vector<std::string> arguments(argv + 1, argv + argc);
  std::string file;
  if (arguments.size() >= 2 && arguments[0] == "--config") {
    file = arguments[1];
    arguments.erase(arguments.begin(), arguments.begin() + 2);
  }
  const bool by_clock = !arguments.empty() && arguments[0] == "--task-clock";
  if (by_clock) arguments.erase(arguments.begin());
  const auto argument = [&](std::size_t i, const char* otherwise) {
    return arguments.size() > i ? arguments[i] : std::string(otherwise);
  };
  const auto loaded = file.empty() ? load_settings() : load_settings_file(file);
  if (!loaded) {
    stderr_log::log_error(loaded.error().message);
    return EXIT_FAILURE;
  }
  const PerfSettings& settings = loaded->settings.perf;
  HostPaths paths{.sysfs = argument(1, "/sys"), .procfs = argument(2, "/proc")};
  if (arguments.size() > 3) paths.cgroupfs = arguments[3];
  const auto host = HostRoot::open(paths);
  if (!host) {
    stderr_log::log_error(host.error().message);
    return EXIT_FAILURE;
  }
  const std::vector<perf::Event> events =
      by_clock ? perf::task_clock()
               : perf::events_for(loaded->settings.attribution.share, processor_vendor(*host));
  if (events.empty()) {
    stderr_log::log_info(
        "There is nothing to count: cache misses are only counted on Intel's processors, and instructions or "
        "cycles only with Share=instructions or Share=cycles");
    return EXIT_SUCCESS;
  }
  perf::Reader reader(*host, {.patterns = settings.cgroups,
                              .descriptors = raise_descriptors(settings.descriptors),
                              .events = events});
  Log log;
  while (true) {
    const Nanoseconds before = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    const auto written =
        meters::write_usage(argument(0, "/run/keplerd-usage/perf"), reader.read(read_clock(CLOCK_BOOTTIME)));
    if (!written) {
      stderr_log::log_error(written.error().message);
      return EXIT_FAILURE;
    }
    log.report(reader);
    meters::pause(meters::pause_after(read_clock(CLOCK_PROCESS_CPUTIME_ID) - before));
  }
}
