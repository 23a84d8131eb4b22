// SPDX-License-Identifier: Apache-2.0
#include "host/perf_counter.h"

#include <cerrno>
#include <utility>

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace keplerd {
namespace {

class KernelCounter final : public PerfCounter {
 public:
  explicit KernelCounter(UniqueFd fd) : fd_(std::move(fd)) {}

  Result<PerfReading> read() override {
    PerfReading reading;
    static_assert(sizeof reading == 3 * sizeof(std::uint64_t), "as read_format lays it out");
    const auto got = ::read(fd_.get(), &reading, sizeof reading);
    if (got < 0) return system_error("perf event", errno);
    // An event that the kernel had to give up reads as end of file.
    if (got != sizeof reading) return system_error("perf event", ENODEV);
    return reading;
  }

 private:
  UniqueFd fd_;
};

}  // namespace

Result<std::unique_ptr<PerfCounter>> open_perf_counter(const PerfEvent& event) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  constexpr int kNoGroup = -1;
  const unsigned long flags = PERF_FLAG_FD_CLOEXEC | (event.cgroup < 0 ? 0UL : PERF_FLAG_PID_CGROUP);
  UniqueFd fd(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, event.cgroup, event.cpu, kNoGroup, flags)));
  if (!fd) return system_error("perf_event_open", errno);
  return std::unique_ptr<PerfCounter>(std::make_unique<KernelCounter>(std::move(fd)));
}

}  // namespace keplerd
