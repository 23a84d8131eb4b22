// SPDX-License-Identifier: Apache-2.0
// CgroupTree: what is read from each group.
#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "host/kept_file.h"
#include "usage/cgroup_files.h"
#include "usage/cgroup_node.h"
#include "usage/cgroup_tree.h"

namespace keplerd {
namespace {

constexpr std::size_t kPidsLimit = 64 << 20;

}  // namespace

void CgroupTree::resume(const SavedUsage& saved) {
  for (const auto& [identity, usage] : saved.groups) saved_.emplace(identity, usage);
  reads_ = 2;
  if (!saved.complete) too_many_ = 1;
}

std::vector<SavedUsage::Group> CgroupTree::all() const {
  std::vector<SavedUsage::Group> saved;
  add_saved(*root_, saved);
  return saved;
}

// Parts are only read when their domain has run: their time stands until then.
void CgroupTree::add_saved(const Node& node, std::vector<SavedUsage::Group>& saved) const {
  for (const auto& [name, child] : node.children) {
    const bool is_known = child->threaded ? child->last_read != 0 : child->last_read + 1 == reads_;
    if (is_known && !child->ended) saved.push_back({child->identity, child->usage});
    add_saved(*child, saved);
  }
}

// `usage`: what it is now.
void CgroupTree::note_change(const Node& node, bool is_known, Nanoseconds usage) {
  if (!is_known || usage != node.usage) changed_.push_back({node.identity, usage});
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

// The file `name` of `node`: `held` if there is a descriptor for it, else `opened` for this read only. Never
// null.
Result<const KeptFile*> CgroupTree::hold(const Node& node, KeptFile& held, const char* name,
                                         KeptFile& opened) {
  if (held) return &held;
  auto file = KeptFile::open(root_directory_.get(), path_of(node, name), limits_.descriptors);
  if (!file) return file.error();
  KeptFile& place = file->is_held() ? held : opened;
  return &(place = *std::move(file));
}

// Unset if the group is gone, or cannot be read now.
std::optional<Nanoseconds> CgroupTree::read_time(Node& node) {
  std::array<char, 4096> buffer;
  KeptFile opened;
  const auto file = hold(node, node.cpu_stat, "cpu.stat", opened);
  if (!file) return std::nullopt;
  const auto text = (*file)->read(buffer);
  if (!text) return std::nullopt;
  const auto usage = parse_cpu_stat(*text);
  return usage ? std::optional(*usage) : std::nullopt;
}

// Called when processes have come to an empty group, or the last one has left. The time is read first: the
// group may be removed at any moment.
void CgroupTree::read_when_empty(Node& node) {
  const auto time = read_time(node);
  const auto directory = directory_of(node);
  const bool is_known = node.cpu_stat.is_held() || directory.ok();  // else the time may be another group's
  const auto populated = directory ? read_populated(directory->get()) : directory.error();
  if (time && is_known && !(populated && *populated)) node.latest = time;
  node.empty = time && is_known && shows_empty(populated);
  if (node.reads < Node::kSettled && directory)
    node.threaded = node.threaded || is_threaded(directory->get(), ".");
}

bool CgroupTree::read_usage(Node& node) {
  node.read_in = reads_;
  const auto usage = read_time(node);
  if (!usage) return false;

  const bool is_known = node.last_read != 0 && node.last_read + 1 == reads_;
  note_change(node, is_known || (node.threaded && node.last_read != 0), *usage);
  // Time from before its first read, or while it could not be read, is in its parent's own account.
  if (is_known) {
    node.before = node.usage;
    if (*usage < *node.before) {  // recreated, unnoticed
      node.incarnation = ++last_incarnation_;
      node.before = Nanoseconds{0};
      node.inside = {};
    }
  } else if (reads_ > 1) {
    node.before = node.born == reads_ ? Nanoseconds{0} : *usage;
  }
  if (node.before) *node.before -= std::exchange(node.carried, Nanoseconds{0});
  if (*usage != node.usage) {
    node.pace = node.ran_in == 0 ? 1 : reads_ - node.ran_in;
    node.ran_in = reads_;
  }
  node.usage = *usage;
  node.last_read = reads_;
  node.latest.reset();
  return true;
}

// At `index` of the last read(); the root for kNoGroup.
CgroupTree::Node& CgroupTree::node_at(std::size_t index) const {
  return index == kNoGroup ? *root_ : *order_[index];
}

Result<std::string_view> CgroupTree::read_group_file(std::size_t index, const char* name,
                                                     std::span<char> buffer) {
  if (node_at(index).ended) return Error{"the group has ended"};
  return read_file(root_directory_.get(), path_of(node_at(index), name), buffer);
}

bool CgroupTree::has_groups_in(std::size_t index) const {
  return std::ranges::any_of(order_[index]->children,
                             [](const auto& child) { return !child.second->threaded; });
}

bool CgroupTree::is_empty(std::size_t index) const {
  if (index == kNoGroup) return false;
  for (const Node* node = order_[index]; node != nullptr; node = node->parent)
    if (node->empty) return true;
  return false;
}

bool CgroupTree::has_same_tasks(std::size_t index) {
  Node& node = node_at(index);
  if (node.ended) return false;
  if (node.counts_tasks) {
    const bool is_same = has_as_many_tasks(node);
    if (node.counts_tasks) return is_same;
  }
  return forks_ != 0 && node.forks == forks_;
}

bool CgroupTree::has_as_many_tasks(Node& node) {
  node.counted = reads_ - 1;
  std::array<char, 32> buffer;
  KeptFile opened;
  const auto file = hold(node, node.tasks, "pids.current", opened);
  const auto text = file ? (*file)->read(buffer) : file.error();
  if (!text && text.error().code == ENOENT) node.counts_tasks = false;
  const auto count = text ? parse_number<std::uint64_t>(trim(*text)) : std::nullopt;
  return count && std::exchange(node.task_count, count) == count;
}

bool CgroupTree::read_pids(std::size_t index, std::vector<std::int32_t>& pids) {
  pids.clear();
  Node& node = node_at(index);
  if (node.ended) return true;
  node.listed = reads_ - 1;
  if (node.counted != node.listed) node.task_count.reset();  // it may be older than the list
  node.forks = 0;
  KeptFile opened;
  const auto file = hold(node, node.procs, "cgroup.procs", opened);
  const auto text = file ? (*file)->read_list(pids_text_, kPidsLimit) : file.error();
  if (!text) {
    const bool threaded = text.error().code == EOPNOTSUPP && &node != root_.get();
    node.threaded = node.threaded || threaded;
    node.task_count.reset();
    return !is_shortage(text.error());
  }
  for (std::string_view rest = *text; !rest.empty();) {
    const auto pid = parse_number<std::int32_t>(trim(take_until(rest, '\n')));
    if (pid && *pid > 0) pids.push_back(*pid);  // 0: in another pid namespace
  }
  node.forks = forks_;
  return true;
}

}  // namespace keplerd
