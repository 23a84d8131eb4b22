// SPDX-License-Identifier: Apache-2.0
// Watches the groups of a cgroup2 hierarchy for changes: groups that are created or removed inside them, and
// processes that come to an empty group, or leave one empty (cgroup.events, "populated"). inotify reports
// these without privileges.
//
// There are two queues, so that users who create and remove groups as fast as they can do not delay or
// displace the events of the system's groups.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "host/directory_watch.h"

namespace keplerd {

// Whose actions cause the events: those of root, or of any user.
enum class CgroupQueue : std::uint8_t { kRoot, kUsers };
inline constexpr std::array kCgroupQueues = {CgroupQueue::kRoot, CgroupQueue::kUsers};

class CgroupWatch {
 public:
  using Handle = std::int64_t;
  static constexpr Handle kNone = -1;
  using Change = DirectoryWatch::Change;  // kModified: of cgroup.events
  using Event = std::function<void(Handle, Change, const std::string& name)>;

  // `most_files`: how many cgroup.events may be watched in each queue. They never take more than a quarter of
  // what the kernel allows (fs.inotify.max_user_watches), because without directories new groups are not
  // noticed.
  explicit CgroupWatch(std::size_t most_files);

  // Watches the group whose open directory this is; kNone at the limits.
  Handle add_directory(CgroupQueue queue, int directory);
  Handle add_file(CgroupQueue queue, int directory);
  void remove_directory(Handle handle) { watch_of(handle).remove(number_of(handle)); }
  void remove_file(Handle handle);

  // As in DirectoryWatch.
  bool drain(CgroupQueue queue, const Event& event);
  bool drain_some(CgroupQueue queue, const Event& event);
  int descriptor(CgroupQueue queue) const { return queues_[index_of(queue)].watch.descriptor(); }

 private:
  struct Queue {
    DirectoryWatch watch;
    std::size_t files = 0;
  };
  static std::size_t index_of(CgroupQueue queue) { return static_cast<std::size_t>(queue); }
  static Handle handle_of(CgroupQueue queue, int number) { return Handle{number} << 1 | Handle(queue); }
  static int number_of(Handle handle) { return static_cast<int>(handle >> 1); }
  DirectoryWatch& watch_of(Handle handle) { return queues_[static_cast<std::size_t>(handle & 1)].watch; }

  std::size_t most_files_;
  std::array<Queue, 2> queues_;
};

}  // namespace keplerd
