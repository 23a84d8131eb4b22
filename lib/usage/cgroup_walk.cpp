// SPDX-License-Identifier: Apache-2.0
// CgroupTree: which groups are read.
#include "host/kept_file.h"
#include "usage/cgroup_files.h"
#include "usage/cgroup_node.h"
#include "usage/cgroup_tree.h"

namespace keplerd {
namespace {

constexpr std::uint64_t kReadsAtRest = 8;  // of the tree, after which a file that was not read is closed

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

// Reads `node` and everything below it. A parent is read right before its children: the less time in between,
// the smaller the error in its own time.
void CgroupTree::visit(Node& node, std::vector<GroupUsage>& groups) {
  node.index = kNoGroup;
  if (node.reads < Node::kSettled && node.reads++ > 0)
    node.threaded = node.threaded || is_threaded_by_now(node);
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
  if (reads_ - node.listed > kReadsAtRest) node.procs = KeptFile();
  if (reads_ - node.counted > kReadsAtRest) node.tasks = KeptFile();

  node.index = groups.size();
  order_.push_back(&node);
  groups.push_back({.incarnation = node.incarnation,
                    .parent = node.parent->index,
                    .path = node.path,
                    .parent_owner = node.parent_owner,
                    .usage = node.usage,
                    .before = node.before,
                    .identity = node.identity});
  visit_children(node, groups);
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
  node.index = groups.size();
  order_.push_back(&node);
  groups.push_back({.incarnation = node.incarnation,
                    .parent = node.parent->index,
                    .path = node.path,
                    .parent_owner = node.parent_owner,
                    .usage = node.usage + node.piece,
                    .before = node.usage,
                    .identity = node.identity});
  for (auto& [name, child] : node.children) visit_ended(*child, groups);
}

// Its time cannot have changed, because that of its parent, of which it is a part, has not. This requires a
// tree in which every change is reported, so that the node still exists; in a written tree parents do not
// always include their children.
bool CgroupTree::is_at_rest(const Node& node) const {
  if (!reliable_ || node.parent == root_.get() || node.last_read + 1 != reads_) return false;
  return node.parent->before == node.parent->usage;
}

}  // namespace keplerd
