// SPDX-License-Identifier: Apache-2.0
// CgroupTree: which groups are read.
#include <algorithm>
#include <iterator>

#include "host/kept_file.h"
#include "usage/cgroup_files.h"
#include "usage/cgroup_node.h"
#include "usage/cgroup_tree.h"

namespace keplerd {
namespace {

constexpr std::uint64_t kReadsAtRest = 8;  // of the tree, after which a file that was not read is closed

// Of the tree, after which all in a group are read again, twice: whether a group has run in each of several
// reads is only seen if it is read in each.
constexpr std::uint64_t kReadsPassedOver = 64;
constexpr std::uint8_t kFullReads = 2;

}  // namespace

void CgroupTree::read(std::vector<GroupUsage>& groups, std::uint64_t forks) {
  forks_ = forks;
  refresh();
  groups.clear();
  order_.clear();
  parts_.clear();
  changed_.clear();
  visit_children(*root_, groups);
  saved_ = {};
  ended_.fill(0);
  ++reads_;
}

void CgroupTree::visit_children(Node& node, std::vector<GroupUsage>& groups) {
  for (auto entry = node.children.begin(); entry != node.children.end();) {
    Node& child = *entry->second;
    if (child.ended && child.index != kNoGroup) {  // it was in the last read
      entry = node.children.erase(entry);
      continue;
    }
    child.ended ? visit_ended(child, groups) : visit(child, groups);
    ++entry;
  }
}

// Reads `node` and everything below it, as far as it may have changed.
void CgroupTree::visit(Node& node, std::vector<GroupUsage>& groups) {
  node.index = kNoGroup;
  if (node.reads < Node::kSettled && node.reads++ > 0)
    node.threaded = node.threaded || is_threaded_by_now(node);
  if (node.threaded) {
    if (node.parent->index != kNoGroup && node.parent->has_run()) read_part(node);
    return;
  }
  if (node.read_in != reads_) {
    if (is_at_rest(node)) {
      node.before = node.usage;
      node.last_read = reads_;
    } else if (read_usage(node)) {
      read_likely(node);
    }
  }
  if (node.last_read != reads_) return;
  if (node.procs && reads_ - node.listed > kReadsAtRest) node.procs = KeptFile();
  if (node.tasks && reads_ - node.counted > kReadsAtRest) node.tasks = KeptFile();

  add_group(node, node.usage, node.before, groups);
  visit_children(node, groups);
}

void CgroupTree::add_group(Node& node, Nanoseconds usage, std::optional<Nanoseconds> before,
                           std::vector<GroupUsage>& groups) {
  node.index = groups.size();
  order_.push_back(&node);
  groups.push_back({.incarnation = node.incarnation,
                    .parent = node.parent->index,
                    .path = node.path,
                    .parent_owner = node.parent_owner,
                    .usage = usage,
                    .before = before,
                    .identity = node.identity});
}

// The type of the parent is read once for all its children.
bool CgroupTree::is_threaded_by_now(Node& node) {
  Node& parent = *node.parent;
  if (on_kernel_ && parent.typed != reads_) {
    parent.may_have_threaded = may_have_threaded(root_directory_.get(), path_of(parent));
    parent.typed = reads_;
  }
  return parent.may_have_threaded && is_threaded(root_directory_.get(), path_of(node));
}

// A group that has ended, with those inside it that have used something.
void CgroupTree::visit_ended(Node& node, std::vector<GroupUsage>& groups) {
  add_group(node, node.usage + node.piece, node.usage, groups);
  for (auto& [name, child] : node.children) visit_ended(*child, groups);
}

// Appends the groups in `parent` to those that are likely to have run; false, and none of them, if one must
// be read in any case. One that has ended is not needed: what it has used explains nothing, so that all
// others are read.
bool CgroupTree::add_likely(const Node& parent) {
  const std::size_t first = likely_.size();
  for (const auto& [name, child] : parent.children) {
    if (child->ended) continue;
    if (child->threaded || child->reads < Node::kSettled || !may_stand(*child)) {
      likely_.resize(first);
      return false;
    }
    likely_.push_back({parent.inside.full_reads > 0 ? 0 : reads_until_turn(*child), child.get()});
  }
  return true;
}

// Reads the groups in `parent`, which has just been read and has run, and those below them: those whose turn
// it is, and then the others, as their turn is nearest, until all that the parent has used is explained. Each
// is read right before those in it: the less time in between, the smaller the error in its own time. Does
// nothing if one of them must be read in any case.
void CgroupTree::read_likely(Node& parent) {
  if (!parent.has_run()) return;
  Node::Inside& inside = parent.inside;
  if (reads_ - inside.all_read_in >= kReadsPassedOver) inside.full_reads = kFullReads;
  const auto first = static_cast<std::ptrdiff_t>(likely_.size());  // those before it are of its parents
  if (!add_likely(parent)) return;
  const auto later = [](const Likely& a, const Likely& b) { return a.distance > b.distance; };
  std::make_heap(likely_.begin() + first, likely_.end(), later);
  inside.time.begin(parent.usage);
  while (std::ssize(likely_) > first) {
    const auto [distance, child] = likely_[static_cast<std::size_t>(first)];
    if (distance > 0 && inside.time.is_explained()) break;
    std::pop_heap(likely_.begin() + first, likely_.end(), later);
    likely_.pop_back();
    const Nanoseconds last = child->usage;
    if (!read_usage(*child)) continue;
    inside.time.add(child->usage - last);
    read_likely(*child);
  }
  likely_.resize(static_cast<std::size_t>(first));
  inside.time.end();
  inside.read_in = reads_;
  if (inside.full_reads == 0) return;
  inside.all_read_in = reads_;
  --inside.full_reads;
}

// How far this read is from the one in which the group runs again if it keeps its pace.
std::uint64_t CgroupTree::reads_until_turn(const Node& node) const {
  const std::uint64_t turn = node.ran_in + node.pace;
  return turn > reads_ ? turn - reads_ : reads_ - turn;
}

// Whether what is known of it still holds if it has not run. This requires a tree in which every change is
// reported, so that the node still exists; in a written tree parents do not always include their children.
bool CgroupTree::may_stand(const Node& node) const {
  return reliable_ && node.parent != root_.get() && node.last_read + 1 == reads_;
}

// Its time cannot have changed, because that of its parent, of which it is a part, has not, or is explained
// by that of those that were read.
bool CgroupTree::is_at_rest(const Node& node) const {
  const Node& parent = *node.parent;
  return may_stand(node) && (!parent.has_run() || parent.inside.read_in == reads_);
}

}  // namespace keplerd
