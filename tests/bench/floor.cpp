// SPDX-License-Identifier: Apache-2.0
#include "floor.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "host/kept_file.h"
#include "usage/process_clock.h"

namespace keplerd {

Floor::Floor(int cgroupfs) : ticks_(::open("/proc/stat", O_RDONLY | O_CLOEXEC)) {
  add(UniqueFd(::openat(cgroupfs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
}

void Floor::add(UniqueFd directory) {
  groups_.push_back({.cpu_stat = UniqueFd(::openat(directory.get(), "cpu.stat", O_RDONLY | O_CLOEXEC)),
                     .procs = UniqueFd(::openat(directory.get(), "cgroup.procs", O_RDONLY | O_CLOEXEC))});
  const auto names = list_subdirectories(directory.get(), ".");
  if (!names) return;
  for (const std::string& name : *names)
    add(UniqueFd(::openat(directory.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
}

void Floor::read() {
  std::array<char, 4096> buffer;
  clocks_ = 0;
  if (::pread(ticks_.get(), buffer.data(), buffer.size(), 0) <= 0) std::abort();
  for (Group& group : groups_) {
    const ssize_t size = ::pread(group.cpu_stat.get(), buffer.data(), buffer.size() - 1, 0);
    if (size <= 0) continue;
    buffer[static_cast<std::size_t>(size)] = '\0';
    const std::int64_t usage = std::atoll(buffer.data() + std::strlen("usage_usec "));
    if (usage == group.usage) continue;
    group.usage = usage;
    read_clocks(group);
  }
}

void Floor::read_clocks(const Group& group) {
  std::array<char, 16384> buffer;
  ::lseek(group.procs.get(), 0, SEEK_SET);
  while (true) {  // a list that does not fit is continued, and a truncated pid is as good as any
    const ssize_t size = ::read(group.procs.get(), buffer.data(), buffer.size() - 1);
    if (size <= 0) return;
    buffer[static_cast<std::size_t>(size)] = '\0';
    for (char* at = buffer.data(); *at != '\0';) {
      read_process_clock(static_cast<std::int32_t>(std::strtol(at, &at, 10)));
      ++clocks_;
      if (*at == '\n') ++at;
    }
  }
}

}  // namespace keplerd
