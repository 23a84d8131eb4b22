// SPDX-License-Identifier: Apache-2.0
#include "meters/counts/program.h"

#include <cstdlib>
#include <ctime>

#include "event/stderr_log.h"
#include "meters/counts/pause.h"
#include "meters/meter_writer.h"
#include "meters/usage_writer.h"

namespace keplerd::meters {
namespace {

Nanoseconds read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

}  // namespace

Arguments::Arguments(int argc, char** argv) : rest_(argv + 1, argv + argc) {
  if (rest_.size() < 2 || rest_[0] != "--config") return;
  config_ = rest_[1];
  rest_.erase(rest_.begin(), rest_.begin() + 2);
}

bool Arguments::take(std::string_view option) {
  if (rest_.empty() || rest_[0] != option) return false;
  rest_.erase(rest_.begin());
  return true;
}

std::string Arguments::path(std::size_t index, const char* otherwise) const {
  return index < rest_.size() ? rest_[index] : otherwise;
}

Result<LoadedSettings> Arguments::settings() const {
  return config_.empty() ? load_settings() : load_settings_file(config_);
}

Result<HostRoot> Arguments::host(std::size_t first) const {
  HostPaths paths{.sysfs = path(first, "/sys"), .procfs = path(first + 1, "/proc")};
  if (first + 2 < rest_.size()) paths.cgroupfs = rest_[first + 2];
  return HostRoot::open(paths);
}

int fail(const Error& error) {
  stderr_log::log_error(error.message);
  return EXIT_FAILURE;
}

int publish_counts(const std::string& directory,
                   const std::function<std::map<std::string, std::string>(Nanoseconds now)>& read) {
  while (true) {
    const Nanoseconds before = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    const auto written = write_usage(directory, read(read_clock(CLOCK_BOOTTIME)));
    if (!written) return fail(written.error());
    pause(pause_after(read_clock(CLOCK_PROCESS_CPUTIME_ID) - before));
  }
}

}  // namespace keplerd::meters
