// SPDX-License-Identifier: Apache-2.0
#include "host/directory_watch.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <sys/inotify.h>
#include <unistd.h>

namespace keplerd {
namespace {

// A process that creates and removes directories faster than events are read must not block us for ever.
constexpr std::size_t kMostEvents = 50'000;

}  // namespace

DirectoryWatch::DirectoryWatch(Entries entries)
    : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)), entries_(entries) {}

Result<int> DirectoryWatch::add(int fd) {
  // inotify takes paths only; this one cannot be swapped for another object.
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  const int handle = ::inotify_add_watch(fd_.get(), path.c_str(),
                                         IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR);
  if (handle < 0) return system_error("inotify_add_watch", errno);
  return handle;
}

void DirectoryWatch::remove(int handle) { ::inotify_rm_watch(fd_.get(), handle); }

bool DirectoryWatch::drain(const std::function<void(int, Change, const std::string&)>& event) {
  bool complete = static_cast<bool>(fd_);
  std::size_t events = 0;
  alignas(inotify_event) std::array<char, 16 << 10> buffer;
  while (events < kMostEvents) {
    const ssize_t size = ::read(fd_.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return complete && (size == 0 || errno == EAGAIN);
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      inotify_event head{};
      std::memcpy(&head, buffer.data() + at, sizeof head);
      const std::string name = head.len == 0 ? std::string() : std::string(buffer.data() + at + sizeof head);
      at += sizeof head + head.len;
      ++events;
      if ((head.mask & IN_Q_OVERFLOW) != 0) complete = false;
      const bool wanted = ((head.mask & IN_ISDIR) != 0) == (entries_ == Entries::kDirectories);
      if (!wanted || name.empty()) continue;
      event(head.wd, (head.mask & (IN_CREATE | IN_MOVED_TO)) != 0 ? Change::kCame : Change::kWent, name);
    }
  }
  return false;
}

}  // namespace keplerd
