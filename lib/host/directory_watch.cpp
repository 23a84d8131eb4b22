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

// inotify takes paths only; this one cannot be swapped for another object.
std::string path_of(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

}  // namespace

DirectoryWatch::DirectoryWatch(Entries entries)
    : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)), entries_(entries) {}

Result<int> DirectoryWatch::add(int fd) {
  const std::uint32_t written = entries_ == Entries::kWrittenFiles ? IN_CLOSE_WRITE : 0;
  return add_path(path_of(fd), IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR | written);
}

Result<int> DirectoryWatch::add_file(int fd, std::string_view name) {
  return add_path(path_of(fd) + "/" + std::string(name), IN_MODIFY | IN_DONT_FOLLOW);
}

Result<int> DirectoryWatch::add_path(const std::string& path, std::uint32_t mask) {
  const int handle = ::inotify_add_watch(fd_.get(), path.c_str(), mask);
  if (handle < 0) return system_error("inotify_add_watch", errno);
  return handle;
}

void DirectoryWatch::remove(int handle) { ::inotify_rm_watch(fd_.get(), handle); }

bool DirectoryWatch::drain(const Event& event) {
  bool complete = static_cast<bool>(fd_);
  for (std::size_t events = 0; events < kMostEvents;) {
    const Batch batch = read_batch(event);
    complete = complete && !batch.lost;
    if (batch.events == 0) return complete;
    events += batch.events;
  }
  return false;
}

bool DirectoryWatch::drain_some(const Event& event) { return !read_batch(event).lost; }

DirectoryWatch::Batch DirectoryWatch::read_batch(const Event& event) {
  Batch batch;
  alignas(inotify_event) std::array<char, 16 << 10> buffer;
  ssize_t size = -1;
  do size = ::read(fd_.get(), buffer.data(), buffer.size());
  while (size < 0 && errno == EINTR);
  if (size < 0) batch.lost = errno != EAGAIN;
  for (std::size_t at = 0; size > 0 && at < static_cast<std::size_t>(size);) {
    inotify_event head{};
    std::memcpy(&head, buffer.data() + at, sizeof head);
    const std::string name = head.len == 0 ? std::string() : std::string(buffer.data() + at + sizeof head);
    at += sizeof head + head.len;
    ++batch.events;
    if ((head.mask & IN_Q_OVERFLOW) != 0) batch.lost = true;
    if (name.empty()) {
      if ((head.mask & IN_MODIFY) != 0) event(head.wd, Change::kModified, name);
      continue;
    }
    const bool wanted = ((head.mask & IN_ISDIR) != 0) == (entries_ == Entries::kDirectories);
    if (!wanted) continue;
    event(head.wd,
          (head.mask & (IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE)) != 0 ? Change::kCame : Change::kWent,
          name);
  }
  return batch;
}

}  // namespace keplerd
