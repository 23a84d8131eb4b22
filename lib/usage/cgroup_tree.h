// SPDX-License-Identifier: Apache-2.0
// The cgroup2 hierarchy and the CPU time of each group (Documentation/admin-guide/cgroup-v2.rst). Every
// cpu.stat is held open as long as there are descriptors for it, and whatever is opened by its path is
// compared with the known identity, so that a group recreated under the same name is never mistaken for the
// old one. Changes are reported by inotify, which works on cgroup2 without privileges; other file systems (a
// written tree) are rescanned each time.
//
// More than 20 methods: the scan, the events and the slow rescan maintain the same tree.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "host/descriptor_budget.h"
#include "host/directory_watch.h"
#include "usage/usage_sample.h"

namespace keplerd {

class KeptFile;

// Parses the usage_usec of a cpu.stat.
Result<Nanoseconds> parse_cpu_stat(std::string_view text);

struct CgroupLimits {
  // Groups beyond these two stay in their parent's own time. Groups near the root come first, so that groups
  // created further down do not displace others.
  std::size_t groups = 100'000;
  std::size_t depth = 100;
  DescriptorBudget* descriptors = nullptr;  // outlives the tree; null: no bound
};

class CgroupTree {
 public:
  // `root`: descriptor of the cgroup2 root; the caller keeps ownership.
  explicit CgroupTree(int root, CgroupLimits limits = {});
  ~CgroupTree();

  // Finds groups that appeared or disappeared, and reads the groups' time; below a group whose time did not
  // change nothing is read, because it cannot have changed either. Sets `groups` to all but the root and the
  // threaded ones (those are inside their domain), parents before children; paths are valid until the next
  // call.
  void read(std::vector<GroupUsage>& groups);

  // The threaded groups directly below those groups of the last read() that were active; views as above.
  const std::vector<PartUsage>& parts() const { return parts_; }

  // The pids in the group at `index` of the last read(), or in the root (kNoGroup). A group that is gone has
  // none.
  void read_pids(std::size_t index, std::vector<std::int32_t>& pids);

  // The index in the last read() of the group at `path` (as in /proc/PID/cgroup), or of its nearest known
  // ancestor.
  std::size_t find(std::string_view path) const;

  // Groups merged into their parents because of the limits.
  std::size_t left_out() const { return too_many_ + too_deep_; }

  // Groups that inotify cannot watch (fs.inotify.max_user_watches): while there are any, each read rescans
  // everything.
  std::size_t unwatched() const { return unwatched_; }

 private:
  struct Node;
  using Queue = std::vector<Node*>;

  void refresh();
  void look_up(Queue queue);
  void look_into(Node& node, Queue& queue);
  void adopt(Node& parent, int directory, const std::string& name, Queue& queue);
  bool reconcile(Node& parent, int directory, const std::string& name, Queue& queue);
  Result<UniqueFd> directory_of(const Node& node);
  const char* path_of(const Node& node, const char* file = nullptr);
  void watch(Node& node, int directory);
  void unwatch(const Node& node);
  void visit(Node& node, std::vector<GroupUsage>& groups);
  const KeptFile* hold(const Node& node, KeptFile& held, const char* name, KeptFile& opened);
  bool read_usage(Node& node);
  bool is_at_rest(const Node& node) const;
  void read_part(Node& node);

  CgroupLimits limits_;
  UniqueFd root_directory_;
  DirectoryWatch watch_;
  bool reliable_ = false;  // inotify has reported every change since the last read
  bool late_ = false;      // groups found now may have been left out before
  std::uint32_t root_owner_ = 0;
  std::uint64_t reads_ = 0;
  std::uint64_t last_incarnation_ = 0;
  std::size_t count_ = 0;
  std::size_t too_many_ = 0;  // left out, for lack of room or descriptors
  std::size_t too_deep_ = 0;  // left out
  std::size_t unwatched_ = 0;
  std::unique_ptr<Node> root_;
  std::unordered_map<int, Node*> by_watch_;
  std::vector<Node*> order_;  // of the last read()
  std::vector<PartUsage> parts_;
  std::string pids_text_;
  std::string path_;  // of path_of()
};

}  // namespace keplerd
