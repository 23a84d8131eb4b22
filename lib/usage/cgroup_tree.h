// SPDX-License-Identifier: Apache-2.0
// The cgroup2 hierarchy and the CPU time of each group (Documentation/admin-guide/cgroup-v2.rst). Every
// cpu.stat is held open as long as there are descriptors for it, and whatever is opened by its path is
// compared with the known identity, so that a group recreated under the same name is never mistaken for the
// old one. Changes are reported by inotify, which works on cgroup2 without privileges; other file systems (a
// written tree) are rescanned each time.
//
// A group that becomes empty is read at once, if its events are taken as they come. If it is removed before
// the next read(), that read has it once more, with the time until then; a group that is created under the
// same name meanwhile has that time in addition to its own. What cannot be read any more stays in its
// parent's own time, and is counted: missed_ends().
//
// More than 20 methods: the scan, the events and the slow rescan maintain the same tree.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "host/descriptor_budget.h"
#include "usage/cgroup_watch.h"
#include "usage/saved_usage.h"
#include "usage/usage_sample.h"

namespace keplerd {

class KeptFile;
struct DirectoryStatus;

struct CgroupLimits {
  // Groups beyond these two stay in their parent's own time. Groups near the root come first, so that groups
  // created further down do not displace others.
  std::size_t groups = 100'000;
  std::size_t depth = 100;
  std::size_t watched_ends = 5'000;         // groups whose end is watched, in each queue of CgroupWatch
  std::size_t ended = 1'000;                // and those that ended between two reads
  DescriptorBudget* descriptors = nullptr;  // outlives the tree; null: no bound
};

class CgroupTree {
 public:
  // `root`: descriptor of the cgroup2 root; the caller keeps ownership.
  explicit CgroupTree(int root, CgroupLimits limits = {});
  ~CgroupTree();

  // Before the first read(): it continues from these times, as if they were those of a read before it.
  void resume(const SavedUsage& saved);

  // Finds groups that appeared or disappeared, and reads the groups' time; below a group whose time did not
  // change nothing is read, because it cannot have changed either. In one whose time has changed, those that
  // probably have run are read first, and the others only if these do not explain it (GroupTime), or now and
  // then: what such a group uses may be known some reads later, if it is so little that the rounding of all
  // these times hides it. Sets `groups` to all but the root and the threaded ones (those are inside their
  // domain), parents before children; paths are valid until the next call of this or take_events(). `forks`:
  // UsageSample::forks, of shortly before.
  void read(std::vector<GroupUsage>& groups, std::uint64_t forks = 0);

  // Between two reads: takes some of the events that are waiting, those of one queue. To be called when the
  // descriptor (-1: none) is readable. Whatever is not taken is taken by the next read().
  void take_events(CgroupQueue queue);
  int event_descriptor(CgroupQueue queue) const { return watch_.descriptor(queue); }

  // The threaded groups directly below those groups of the last read() that were active; views as above.
  const std::vector<PartUsage>& parts() const { return parts_; }

  // The groups and the threaded ones whose time is another than at the read before the last one, or was not
  // known then; and all whose time is known as of the last read().
  const std::vector<SavedUsage::Group>& changed() const { return changed_; }
  std::vector<SavedUsage::Group> all() const;

  // Whether the group at `index` of the last read() is known to have had no process when it was found, or
  // when the kernel last reported a change, which is up to 10 ms later. Not known of those whose end is not
  // watched.
  bool is_empty(std::size_t index) const;

  // Whether there are groups in the one at `index` of the last read(). Threaded ones do not count: their
  // threads are of processes in the one at `index`.
  bool has_groups_in(std::size_t index) const;

  // The pids in the group at `index` of the last read(), or in the root (kNoGroup). A group that is gone has
  // none, nor has one whose list may not be read. False if this host is short of descriptors or memory.
  bool read_pids(std::size_t index, std::vector<std::int32_t>& pids);

  // Whether the group at `index` of the last read(), or the root (kNoGroup), most probably has the same
  // processes as when this was last asked, shortly before its pids were read. By pids.current: as many
  // threads are in it, and in those below it (one may have ended, and another one begun). Without that file,
  // and for the root, which has none: no process has been created on the host since its pids were last read
  // (one may have ended, or have been moved). False if neither is known.
  bool has_same_tasks(std::size_t index);

  // The file `name` of the group at `index` of the last read(), or of the root (kNoGroup), in `buffer`.
  Result<std::string_view> read_group_file(std::size_t index, const char* name, std::span<char> buffer);

  // The index in the last read() of the group at `path` (as in /proc/PID/cgroup), or of its nearest known
  // ancestor.
  std::size_t find(std::string_view path) const;

  // Groups merged into their parents because of the limits.
  std::size_t left_out() const { return too_many_ + too_deep_; }

  // Groups that inotify cannot watch (fs.inotify.max_user_watches): while there are any, each read rescans
  // everything.
  std::size_t unwatched() const { return unwatched_; }

  // Groups that have ended, since the tree was made, without having been read after their last process; those
  // that inotify did not report are not among them. And whether there may be more of them now, because of the
  // limits of watches.
  std::uint64_t missed_ends() const { return missed_ends_; }
  bool misses_ends() const { return unwatched_ends_ > 0; }

 private:
  struct Node;
  using Queue = std::vector<Node*>;
  // A node whose directory is open.
  struct Place {
    Node& node;
    int directory;
    bool may_have_threaded = true;  // children
  };
  // A group whose turn to run is so many reads away.
  struct Likely {
    std::uint64_t distance = 0;
    Node* node = nullptr;
  };

  Node& node_at(std::size_t index) const;
  void refresh();
  void on_event(CgroupWatch::Handle handle, CgroupWatch::Change change, const std::string& name);
  void look_up(Queue queue);
  void look_into(Node& node, Queue& queue);
  void adopt(const Place& place, const std::string& name, Queue& queue);
  bool reconcile(const Place& place, const std::string& name, Queue& queue);
  Result<UniqueFd> directory_of(const Node& node);
  std::uint32_t owner_of(const Result<DirectoryStatus>& status) const;
  const char* path_of(const Node& node, const char* file = nullptr);
  void watch(Node& node, int directory, std::uint32_t owner);
  void watch_end(Node& node, int directory);
  void unwatch(Node& node);
  bool end(Node& node);
  Nanoseconds settle(Node& node);
  void visit_children(Node& node, std::vector<GroupUsage>& groups);
  void visit(Node& node, std::vector<GroupUsage>& groups);
  void add_group(Node& node, Nanoseconds usage, std::optional<Nanoseconds> before,
                 std::vector<GroupUsage>& groups);
  Result<const KeptFile*> hold(const Node& node, KeptFile& held, const char* name, KeptFile& opened);
  void visit_ended(Node& node, std::vector<GroupUsage>& groups);
  std::optional<Nanoseconds> read_time(Node& node);
  bool read_usage(Node& node);
  void note_change(const Node& node, bool is_known, Nanoseconds usage);
  void add_saved(const Node& node, std::vector<SavedUsage::Group>& saved) const;
  void read_when_empty(Node& node);
  bool add_likely(const Node& parent);
  void read_likely(Node& parent);
  bool may_stand(const Node& node) const;
  bool is_at_rest(const Node& node) const;
  std::uint64_t reads_until_turn(const Node& node) const;
  bool is_threaded_by_now(Node& node);
  bool has_as_many_tasks(Node& node);
  void read_part(Node& node);

  CgroupLimits limits_;
  UniqueFd root_directory_;
  bool on_kernel_ = false;  // the tree is the kernel's own, not a written one
  CgroupWatch watch_;
  bool reliable_ = false;  // inotify has reported every change since the last read
  bool late_ = false;      // groups found now may have been left out before
  std::uint32_t root_owner_ = 0;
  std::uint64_t reads_ = 1;  // number of the current read, or the next
  std::uint64_t rescans_ = 0;
  std::uint64_t forks_ = 0;  // as of the last read(); 0: unknown
  std::uint64_t last_incarnation_ = 0;
  std::size_t count_ = 0;
  std::size_t too_many_ = 0;  // left out, for lack of room or descriptors
  std::size_t too_deep_ = 0;  // left out
  std::size_t unwatched_ = 0;
  std::size_t unwatched_ends_ = 0;
  std::uint64_t missed_ends_ = 0;
  std::array<std::size_t, kCgroupQueues.size()> ended_{};  // since the last read
  std::unique_ptr<Node> root_;
  std::unordered_map<CgroupWatch::Handle, Node*> by_watch_;
  std::vector<Node*> order_;    // of the last read()
  std::vector<Likely> likely_;  // of read_likely()
  std::vector<PartUsage> parts_;
  std::vector<SavedUsage::Group> changed_;
  std::unordered_map<std::uint64_t, Nanoseconds> saved_;  // by identity, until the first read()
  std::string pids_text_;
  std::string path_;  // of path_of()
};

}  // namespace keplerd
