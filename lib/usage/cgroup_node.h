// SPDX-License-Identifier: Apache-2.0
// A group of a CgroupTree. Internal to it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/kept_file.h"
#include "usage/cgroup_tree.h"
#include "usage/group_time.h"

namespace keplerd {

struct CgroupTree::Node {
  static constexpr int kSettled = 3;

  // How the groups in it are read; numbers of reads, 0: none.
  struct Inside {
    GroupTime time;                 // whether they explain the group's
    std::uint64_t read_in = 0;      // the last in which they were, as far as they had to be
    std::uint64_t all_read_in = 0;  // the last in which all were because it was time for that
    std::uint8_t full_reads = 0;    // how many more of those follow
  };

  Node* parent = nullptr;
  std::string path;       // escaped; empty for the root
  std::string_view name;  // its key among its parent's children
  std::size_t depth = 0;
  std::uint32_t parent_owner = 0;  // as GroupUsage has it
  std::uint64_t identity = 0;
  CgroupWatch::Handle directory_watch = CgroupWatch::kNone;
  CgroupWatch::Handle events_watch = CgroupWatch::kNone;
  bool misses_end = false;                  // the latter is lacking, because of the limits
  std::uint64_t unwatched = 0;              // number of the last rescan in which the former was lacking
  KeptFile cpu_stat;                        // this and the next one only if they can be held
  KeptFile procs, tasks;                    // while they are read: cgroup.procs and pids.current
  bool counts_tasks = true;                 // it has pids.current, as far as is known
  std::optional<std::uint64_t> task_count;  // before its pids were last asked for
  std::uint64_t counted = 0;                // number of the last read after which its tasks were counted
  std::uint64_t forks = 0;                  // UsageSample::forks of then, or of its last list; 0: unknown
  std::uint64_t incarnation = 0;
  std::uint64_t born = 0;             // number of the read before which it appeared; 0: earlier, or unknown
  std::uint64_t last_read = 0;        // number of the last read for which its time is known
  std::uint64_t read_in = 0;          // number of the last read in which its file was read, or could not be
  std::uint64_t listed = 0;           // number of the last read after which its pids were read
  Nanoseconds usage{0};               // at last_read
  std::optional<Nanoseconds> before;  // at the read before the current one
  std::optional<Nanoseconds> latest;  // since the last read, when the group became empty
  bool empty = false;                 // and still is: nothing can have been used since it was read
  Nanoseconds carried{0};             // time in this window of earlier groups of this name, which have ended
  Nanoseconds piece{0};     // of a group that has ended: its time in this window, with what it carried
  bool ended = false;       // it is in one more read
  int reads = 0;            // up to kSettled: libvirt creates a group first, and makes it threaded afterwards
  bool threaded = false;    // a part of its parent, like everything below it
  std::uint64_t typed = 0;  // number of the read for which the next one was read
  bool may_have_threaded = true;  // children
  std::size_t index = kNoGroup;   // in the last read
  std::uint64_t ran_in = 0;       // number of the last read in which it had used something; 0: none
  std::uint64_t pace = 0;         // how many reads before that it had, too; 1 if it had not
  Inside inside;
  std::map<std::string, std::unique_ptr<Node>, std::less<>> children;

  bool has_run() const { return before != usage; }  // since the read before
};

}  // namespace keplerd
