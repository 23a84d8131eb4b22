// SPDX-License-Identifier: Apache-2.0
#include "usage/cgroup_tree.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "host/kept_file.h"

namespace keplerd {
namespace {

constexpr std::size_t kPidsLimit = 64 << 20;
constexpr std::uint64_t kReadsAtRest = 8;  // after which an idle group's cgroup.procs is closed

constexpr std::uint32_t kRoot = 0;
constexpr std::uint32_t kNobody = 65534;

// The longest path reachable from the root (PATH_MAX), the name of a file included.
constexpr std::size_t kLongestPath = 4000;

bool is_threaded(int directory, const char* path) {
  std::array<char, 32> buffer;
  const auto type = read_file(directory, path, buffer);
  return type && trim(*type) == "threaded";
}

}  // namespace

struct CgroupTree::Node {
  Node* parent = nullptr;
  std::string path;       // escaped; empty for the root
  std::string_view name;  // its key among its parent's children
  std::size_t depth = 0;
  std::uint32_t parent_owner = 0;  // as GroupUsage has it
  std::uint64_t identity = 0;
  int watch = -1;
  KeptFile cpu_stat;  // this and the next one only if they can be held
  KeptFile procs;     // while the group is active
  std::uint64_t incarnation = 0;
  std::uint64_t born = 0;             // number of the read before which it appeared; 0: earlier, or unknown
  std::uint64_t last_read = 0;        // number of the last read in which it could be read
  std::uint64_t looked = 0;           // number of the last read after which its pids were asked for
  Nanoseconds usage{0};               // at that read
  std::optional<Nanoseconds> before;  // at the read before the current one
  int reads = 0;                      // up to kSettled
  bool threaded = false;              // a part of its parent, like everything below it
  std::size_t index = kNoGroup;       // in the last read
  std::map<std::string, std::unique_ptr<Node>, std::less<>> children;
};

Result<Nanoseconds> parse_cpu_stat(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (take_word(line) != "usage_usec") continue;
    const auto usec = parse_number<std::int64_t>(trim(line));
    constexpr std::int64_t kMost = INT64_MAX / 1000;  // so that nanoseconds fit: 292 years of one CPU
    if (!usec || *usec < 0 || *usec > kMost) break;
    return Nanoseconds(std::chrono::microseconds(*usec));
  }
  return Error{"cpu.stat: no usage_usec"};
}

CgroupTree::CgroupTree(int root, CgroupLimits limits) : limits_(limits), root_(std::make_unique<Node>()) {
  auto directory = open_directory(root, ".");
  if (directory) root_directory_ = *std::move(directory);
  const auto identity = read_identity(root_directory_.get(), ".");
  if (identity) root_->identity = *identity;
  const auto owner = read_owner(root_directory_.get(), ".");
  if (owner) root_owner_ = *owner;
}

CgroupTree::~CgroupTree() = default;

void CgroupTree::read(std::vector<GroupUsage>& groups) {
  ++reads_;
  refresh();
  groups.clear();
  order_.clear();
  parts_.clear();
  for (auto& [name, child] : root_->children) visit(*child, groups);
}

// Updates the tree, by inotify's events or by a full rescan.
void CgroupTree::refresh() {
  Queue found;
  const bool complete = watch_.drain([&](int handle, DirectoryWatch::Change, const std::string& name) {
    const auto node = by_watch_.find(handle);
    if (node == by_watch_.end()) return;
    const auto directory = directory_of(*node->second);
    if (directory) reconcile(*node->second, directory->get(), name, found);
    look_up(std::exchange(found, {}));
  });
  const bool room_again = too_many_ > 0 && count_ < limits_.groups;
  if (reliable_ && complete && !room_again) return;

  reliable_ = is_kernel_file_system(root_directory_.get());
  late_ = too_many_ > 0;
  too_many_ = too_deep_ = unwatched_ = 0;
  look_up({root_.get()});
  late_ = false;
}

// Compares the nodes in `queue`, and everything below them, with the directories that exist now; those
// nearest to the root first.
void CgroupTree::look_up(Queue queue) {
  for (std::size_t next = 0; next < queue.size(); ++next) look_into(*queue[next], queue);
}

// Compares `node` with the directories in it; appends those that must be examined in turn.
void CgroupTree::look_into(Node& node, Queue& queue) {
  const auto directory = directory_of(node);
  if (!directory) return;
  watch(node, directory->get());  // before it is listed, so that no change in between is missed
  const auto names = list_subdirectories(directory->get(), ".");
  if (!names) {  // out of descriptors: the contents are unknown, so nothing is dropped
    ++too_many_;
    reliable_ = false;
    return;
  }
  const std::unordered_set<std::string_view> there(names->begin(), names->end());
  std::erase_if(node.children, [&](const auto& child) {
    const bool gone = !there.contains(child.first);
    if (gone) unwatch(*child.second);
    return gone;
  });
  for (const std::string& name : *names) {
    if (!reconcile(node, directory->get(), name, queue)) continue;
    Node& child = *node.children.find(name)->second;
    if (!child.threaded) queue.push_back(&child);
  }
}

// Updates the node of `name` below `parent`, whose `directory` is open; returns true if it was up to date. An
// event that is read after the directory was listed may report a change that is already known.
bool CgroupTree::reconcile(Node& parent, int directory, const std::string& name, Queue& queue) {
  const auto known = parent.children.find(name);
  if (known != parent.children.end()) {
    const auto identity = read_identity(directory, name.c_str());
    if (identity && *identity == known->second->identity) return true;
    unwatch(*known->second);
    parent.children.erase(known);
  }
  adopt(parent, directory, name, queue);
  return false;
}

// Adds the group `name` below `parent`, if it exists; what is below it is queued. Skips groups below threaded
// ones, and those beyond the limits.
void CgroupTree::adopt(Node& parent, int directory, const std::string& name, Queue& queue) {
  const auto opened = open_directory(directory, name.c_str());
  if (!opened) {
    const int code = opened.error().code;
    if (code != ENOENT && code != ENODEV) ++too_many_;  // out of descriptors: retried each time
    return;
  }
  std::string path = parent.path + "/" + escape_name(name);
  if (parent.depth >= limits_.depth || path.size() > kLongestPath) {
    ++too_deep_;
    return;
  }
  if (count_ >= limits_.groups) {
    ++too_many_;
    return;
  }
  auto node = std::make_unique<Node>();
  node->parent = &parent;
  node->path = std::move(path);
  node->depth = parent.depth + 1;
  const auto owner = read_owner(directory, ".");
  node->parent_owner = owner && *owner == root_owner_ ? kRoot : owner ? *owner : kNobody;
  const auto identity = read_identity(opened->get(), ".");
  if (identity) node->identity = *identity;
  node->incarnation = ++last_incarnation_;
  node->born = late_ ? 0 : reads_;
  node->threaded = is_threaded(opened->get(), "cgroup.type");
  ++count_;
  const auto adopted = parent.children.insert_or_assign(name, std::move(node)).first;
  adopted->second->name = adopted->first;
  if (!adopted->second->threaded) queue.push_back(adopted->second.get());
}

// Opens the directory of `node`; fails if another one has its name by now.
Result<UniqueFd> CgroupTree::directory_of(const Node& node) {
  auto directory = open_directory(root_directory_.get(), path_of(node));
  if (!directory) {
    const int code = directory.error().code;
    if (code == ENOENT || code == ENODEV) return directory;
    ++too_many_;
    reliable_ = false;
    return directory;
  }
  const auto identity = read_identity(directory->get(), ".");
  if (!identity || *identity != node.identity) return Error{"another group"};
  return directory;
}

// The path of `node`, or of a file in it, relative to the root. Valid until the next call.
const char* CgroupTree::path_of(const Node& node, const char* file) {
  path_ = file != nullptr ? file : ".";
  for (const Node* at = &node; at->parent != nullptr; at = at->parent) {
    path_.insert(0, 1, '/');
    path_.insert(0, at->name);
  }
  return path_.c_str();
}

// Without a watch, changes are found by a full rescan each time.
void CgroupTree::watch(Node& node, int directory) {
  if (node.watch < 0) {
    const auto handle = watch_.add(directory);
    if (handle) by_watch_[node.watch = *handle] = &node;
  }
  if (node.watch >= 0) return;
  reliable_ = false;
  ++unwatched_;
}

void CgroupTree::unwatch(const Node& node) {
  for (const auto& [name, child] : node.children) unwatch(*child);
  --count_;
  if (node.watch < 0) return;
  watch_.remove(node.watch);
  by_watch_.erase(node.watch);
}

// Reads `node` and everything below it. A parent is read right before its children: the less time in between,
// the smaller the error in its own time.
void CgroupTree::visit(Node& node, std::vector<GroupUsage>& groups) {
  node.index = kNoGroup;
  // libvirt creates a group first, and makes it threaded afterwards.
  constexpr int kSettled = 3;
  if (node.reads < kSettled && node.reads++ > 0)
    node.threaded = node.threaded || is_threaded(root_directory_.get(), path_of(node, "cgroup.type"));
  if (node.threaded) {
    const bool moved = node.parent->index != kNoGroup && node.parent->before != node.parent->usage;
    if (moved) read_part(node);
    return;
  }
  if (is_at_rest(node)) {
    node.before = node.usage;
    node.last_read = reads_;
  } else if (!read_usage(node)) {
    return;
  }
  if (reads_ - node.looked > kReadsAtRest) node.procs = KeptFile();

  node.index = groups.size();
  order_.push_back(&node);
  groups.push_back({.incarnation = node.incarnation,
                    .parent = node.parent->index,
                    .path = node.path,
                    .parent_owner = node.parent_owner,
                    .usage = node.usage,
                    .before = node.before});
  for (auto& [name, child] : node.children) visit(*child, groups);
}

// Its time cannot have changed, because that of its parent, of which it is a part, has not. This requires a
// tree in which every change is reported, so that the node still exists; in a written tree parents do not
// always include their children.
bool CgroupTree::is_at_rest(const Node& node) const {
  if (!reliable_ || node.parent == root_.get() || node.last_read + 1 != reads_) return false;
  return node.parent->before == node.parent->usage;
}

void CgroupTree::read_part(Node& node) {
  const bool known = node.last_read != 0 || (node.born == reads_ && reads_ > 1);
  const Nanoseconds last = node.usage;
  if (!read_usage(node)) return;
  parts_.push_back({.group = node.parent->index,
                    .process = {},
                    .name = std::string_view(node.path).substr(node.path.rfind('/') + 1),
                    .time = known ? std::max(node.usage - last, Nanoseconds{0}) : Nanoseconds{0}});
}

// The file `name` of `node`: `held` if there is a descriptor for it, else `opened` for this read only. Null
// if the group is gone.
const KeptFile* CgroupTree::hold(const Node& node, KeptFile& held, const char* name, KeptFile& opened) {
  if (held) return &held;
  auto file = KeptFile::open(root_directory_.get(), path_of(node, name), limits_.descriptors);
  if (!file) return nullptr;
  KeptFile& place = file->is_held() ? held : opened;
  return &(place = *std::move(file));
}

// False if the group is gone, or cannot be read now.
bool CgroupTree::read_usage(Node& node) {
  std::array<char, 4096> buffer;
  KeptFile opened;
  const KeptFile* const file = hold(node, node.cpu_stat, "cpu.stat", opened);
  if (file == nullptr) return false;
  const auto text = file->read(buffer);
  if (!text) return false;
  const auto usage = parse_cpu_stat(*text);
  if (!usage) return false;

  // Time from before its first read, or while it could not be read, is in its parent's own account.
  if (node.last_read != 0 && node.last_read + 1 == reads_) {
    node.before = node.usage;
    if (*usage < *node.before) {  // recreated, unnoticed
      node.incarnation = ++last_incarnation_;
      node.before = Nanoseconds{0};
    }
  } else if (reads_ > 1) {
    node.before = node.born == reads_ ? Nanoseconds{0} : *usage;
  }
  node.usage = *usage;
  node.last_read = reads_;
  return true;
}

void CgroupTree::read_pids(std::size_t index, std::vector<std::int32_t>& pids) {
  pids.clear();
  Node& node = index == kNoGroup ? *root_ : *order_[index];
  node.looked = reads_;
  KeptFile opened;
  const KeptFile* const file = hold(node, node.procs, "cgroup.procs", opened);
  if (file == nullptr) return;
  const auto text = file->read_list(pids_text_, kPidsLimit);
  if (!text) {
    node.threaded = node.threaded || (text.error().code == EOPNOTSUPP && &node != root_.get());
    return;
  }
  for (std::string_view rest = *text; !rest.empty();) {
    const auto pid = parse_number<std::int32_t>(trim(take_until(rest, '\n')));
    if (pid && *pid > 0) pids.push_back(*pid);  // 0: in another pid namespace
  }
}

std::size_t CgroupTree::find(std::string_view path) const {
  const Node* node = root_.get();
  while (!path.empty()) {
    const std::string_view name = take_until(path, '/');
    if (name.empty()) continue;
    const auto child = node->children.find(name);
    if (child == node->children.end() || child->second->index == kNoGroup) break;
    node = child->second.get();
  }
  return node->index;
}

}  // namespace keplerd
