// SPDX-License-Identifier: Apache-2.0
#include "usage/cgroup_watch.h"

#include <algorithm>

#include <fcntl.h>

#include "base/parse.h"
#include "base/text.h"
#include "host/kept_file.h"

namespace keplerd {
namespace {

// Of this host's own kernel, whatever tree is watched; 0 if it is not known.
std::size_t most_watches() {
  std::array<char, 32> buffer;
  const auto text = read_file(AT_FDCWD, "/proc/sys/fs/inotify/max_user_watches", buffer);
  const auto most = text ? parse_number<std::int64_t>(trim(*text)) : std::nullopt;
  return most && *most > 0 ? static_cast<std::size_t>(*most) : 0;
}

DirectoryWatch::Event with_handles(CgroupQueue queue, CgroupWatch::Handle (*handle_of)(CgroupQueue, int),
                                   const CgroupWatch::Event& event) {
  return [queue, handle_of, &event](int number, DirectoryWatch::Change change, const std::string& name) {
    event(handle_of(queue, number), change, name);
  };
}

}  // namespace

CgroupWatch::CgroupWatch(std::size_t most_files)
    : most_files_(std::min(most_files, most_watches() / 4 / kCgroupQueues.size())) {}

CgroupWatch::Handle CgroupWatch::add_directory(CgroupQueue queue, int directory) {
  const auto number = queues_[index_of(queue)].watch.add(directory);
  return number ? handle_of(queue, *number) : kNone;
}

CgroupWatch::Handle CgroupWatch::add_file(CgroupQueue queue, int directory) {
  Queue& at = queues_[index_of(queue)];
  if (at.files >= most_files_) return kNone;
  const auto number = at.watch.add_file(directory, "cgroup.events");
  if (!number) return kNone;
  ++at.files;
  return handle_of(queue, *number);
}

void CgroupWatch::remove_file(Handle handle) {
  watch_of(handle).remove(number_of(handle));
  --queues_[static_cast<std::size_t>(handle & 1)].files;
}

bool CgroupWatch::drain(CgroupQueue queue, const Event& event) {
  return queues_[index_of(queue)].watch.drain(with_handles(queue, handle_of, event));
}

bool CgroupWatch::drain_some(CgroupQueue queue, const Event& event) {
  return queues_[index_of(queue)].watch.drain_some(with_handles(queue, handle_of, event));
}

}  // namespace keplerd
