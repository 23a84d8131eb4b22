// SPDX-License-Identifier: Apache-2.0
#include "usage/cgroup_tree.h"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <unordered_set>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "host/kept_file.h"
#include "usage/cgroup_files.h"
#include "usage/cgroup_node.h"

namespace keplerd {
namespace {

constexpr std::uint32_t kRoot = 0;
constexpr std::uint32_t kNobody = 65534;

// The longest path reachable from the root (PATH_MAX), the name of a file included.
constexpr std::size_t kLongestPath = 4000;

CgroupQueue queue_of(std::uint32_t owner) {
  return owner == kRoot ? CgroupQueue::kRoot : CgroupQueue::kUsers;
}

}  // namespace

CgroupTree::CgroupTree(int root, CgroupLimits limits)
    : limits_(limits), watch_(limits.watched_ends), root_(std::make_unique<Node>()) {
  root_->counts_tasks = false;  // only the processes in the root itself matter
  auto directory = open_directory(root, ".");
  if (directory) root_directory_ = *std::move(directory);
  on_kernel_ = is_kernel_file_system(root_directory_.get());
  const auto status = read_status(root_directory_.get());
  if (!status) return;
  root_->identity = status->identity;
  root_owner_ = status->owner;
}

CgroupTree::~CgroupTree() = default;

// Updates the tree, by inotify's events or by a full rescan.
void CgroupTree::refresh() {
  bool complete = true;
  for (const CgroupQueue queue : kCgroupQueues)
    complete = watch_.drain(queue, std::bind_front(&CgroupTree::on_event, this)) && complete;
  const bool room_again = too_many_ > 0 && count_ < limits_.groups;
  if (reliable_ && complete && !room_again) return;

  reliable_ = on_kernel_;
  late_ = too_many_ > 0;
  too_many_ = too_deep_ = unwatched_ = 0;
  ++rescans_;
  look_up({root_.get()});
  late_ = false;
}

void CgroupTree::take_events(CgroupQueue queue) {
  const bool complete = watch_.drain_some(queue, std::bind_front(&CgroupTree::on_event, this));
  if (!complete) reliable_ = false;
}

void CgroupTree::on_event(CgroupWatch::Handle handle, CgroupWatch::Change change, const std::string& name) {
  const auto known = by_watch_.find(handle);
  if (known == by_watch_.end()) return;
  Node& node = *known->second;
  if (change == CgroupWatch::Change::kModified) {
    read_when_empty(node);
    return;
  }
  const std::size_t left_out_before = left_out();
  Queue found;
  const auto directory = directory_of(node);
  if (directory) reconcile({.node = node, .directory = directory->get()}, name, found);
  const bool is_known = node.children.contains(name) || left_out() != left_out_before;
  if (change == CgroupWatch::Change::kCame && !is_known) ++missed_ends_;  // gone before it could be opened
  look_up(std::move(found));
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
  // Before it is listed, so that no change in between is missed.
  watch(node, directory->get(), owner_of(read_status(directory->get())));
  const auto names = list_subdirectories(directory->get(), ".");
  if (!names) {  // out of descriptors: the contents are unknown, so nothing is dropped
    ++too_many_;
    reliable_ = false;
    return;
  }
  const std::unordered_set<std::string_view> there(names->begin(), names->end());
  std::erase_if(node.children, [&](const auto& child) {
    const bool gone = !there.contains(child.first) && !child.second->ended;
    return gone && !end(*child.second);
  });
  if (names->empty()) return;
  const Place place{.node = node,
                    .directory = directory->get(),
                    .may_have_threaded = !on_kernel_ || may_have_threaded(directory->get(), ".")};
  for (const std::string& name : *names) {
    if (!reconcile(place, name, queue)) continue;
    Node& child = *node.children.find(name)->second;
    if (!child.threaded) queue.push_back(&child);
  }
}

// Updates the node of `name` in `place`; returns true if it was up to date. An event that is read after the
// directory was listed may report a change that is already known.
bool CgroupTree::reconcile(const Place& place, const std::string& name, Queue& queue) {
  auto& children = place.node.children;
  const auto known = children.find(name);
  if (known != children.end() && !known->second->ended) {
    const auto identity = read_identity(place.directory, name.c_str());
    if (identity && *identity == known->second->identity) return true;
    if (!end(*known->second)) children.erase(known);
  }
  adopt(place, name, queue);
  return false;
}

// Adds the group `name` in `place`, if it exists; it is queued if there may be others in it. Skips groups
// below threaded ones, and those beyond the limits.
void CgroupTree::adopt(const Place& place, const std::string& name, Queue& queue) {
  Node& parent = place.node;
  const auto opened = open_directory(place.directory, name.c_str());
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
  // Only now that the group is open: somebody else who has made it owned the directory before.
  node->parent_owner = owner_of(read_status(place.directory));
  const auto status = read_status(opened->get());
  if (status) node->identity = status->identity;
  node->incarnation = ++last_incarnation_;
  node->born = late_ ? 0 : reads_;
  if (const auto saved = saved_.find(node->identity); saved != saved_.end()) {
    node->usage = saved->second;
    node->last_read = reads_ - 1;
  }
  node->threaded = place.may_have_threaded && is_threaded(opened->get(), ".");
  ++count_;
  bool has_children = false;
  if (!node->threaded) {
    watch_end(*node, opened->get());
    watch(*node, opened->get(), owner_of(status));  // before others are looked for in it: see look_into()
    has_children = !on_kernel_ || has_subdirectories(opened->get());
  }
  const auto earlier = parent.children.find(name);
  if (earlier != parent.children.end() && earlier->second->index == kNoGroup)
    node->carried = earlier->second->piece;
  const auto adopted = parent.children.insert_or_assign(name, std::move(node)).first;
  adopted->second->name = adopted->first;
  if (has_children) queue.push_back(adopted->second.get());
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

// As in GroupUsage::parent_owner.
std::uint32_t CgroupTree::owner_of(const Result<DirectoryStatus>& status) const {
  if (!status) return kNobody;
  return status->owner == root_owner_ ? kRoot : status->owner;
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

// Without a watch, changes are found by a full rescan each time, which tries again to get one.
void CgroupTree::watch(Node& node, int directory, std::uint32_t owner) {
  if (node.directory_watch == CgroupWatch::kNone) {
    node.directory_watch = watch_.add_directory(queue_of(owner), directory);
    if (node.directory_watch != CgroupWatch::kNone) by_watch_[node.directory_watch] = &node;
  }
  if (node.directory_watch != CgroupWatch::kNone) return;
  reliable_ = false;
  if (std::exchange(node.unwatched, rescans_) != rescans_) ++unwatched_;
}

void CgroupTree::watch_end(Node& node, int directory) {
  node.events_watch = watch_.add_file(queue_of(node.parent_owner), directory);
  if (node.events_watch == CgroupWatch::kNone) {
    node.misses_end = on_kernel_;  // others have no such file
    unwatched_ends_ += node.misses_end ? 1 : 0;
    return;
  }
  by_watch_[node.events_watch] = &node;
  node.empty = shows_empty(read_populated(directory));
}

void CgroupTree::unwatch(Node& node) {
  --count_;
  if (node.directory_watch != CgroupWatch::kNone) watch_.remove_directory(node.directory_watch);
  if (node.events_watch != CgroupWatch::kNone) watch_.remove_file(node.events_watch);
  unwatched_ends_ -= node.misses_end ? 1 : 0;
  by_watch_.erase(node.directory_watch);
  by_watch_.erase(node.events_watch);
}

// Called when `node` is found to be gone. Returns true if the next read must have it.
bool CgroupTree::end(Node& node) {
  node.piece = settle(node);
  if (node.piece == Nanoseconds{0} || node.threaded) return false;
  std::size_t& ended = ended_[static_cast<std::size_t>(queue_of(node.parent_owner))];
  if (ended >= limits_.ended) {
    ++missed_ends_;
    return false;
  }
  ++ended;
  node.ended = true;
  node.index = kNoGroup;
  return true;
}

// Of a group that is gone: returns what it is known to have used since the last read, which is no less than
// what those inside it have.
Nanoseconds CgroupTree::settle(Node& node) {
  unwatch(node);
  if (!node.empty && !node.threaded) ++missed_ends_;
  node.cpu_stat = KeptFile();
  node.procs = KeptFile();
  node.tasks = KeptFile();
  Nanoseconds inside{0};
  std::erase_if(node.children, [&](const auto& entry) {
    Node& child = *entry.second;
    if (child.ended ? child.index != kNoGroup : !end(child)) return true;
    inside += child.piece;
    return false;
  });
  Nanoseconds own{0};
  const bool is_new = node.last_read == 0 && node.born == reads_;
  if (node.latest && (is_new || node.last_read + 1 == reads_)) own = *node.latest - node.usage;
  return std::max(own, inside) + node.carried;
}

std::size_t CgroupTree::find(std::string_view path) const {
  const Node* node = root_.get();
  while (!path.empty()) {
    const std::string_view name = take_until(path, '/');
    if (name.empty()) continue;
    const auto child = node->children.find(name);
    if (child == node->children.end() || child->second->index == kNoGroup || child->second->ended) break;
    node = child->second.get();
  }
  return node->index;
}

}  // namespace keplerd
