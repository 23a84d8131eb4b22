// SPDX-License-Identifier: Apache-2.0
#include "attribution/workload_keys.h"

#include <unordered_set>

#include "workloads/cgroup_workload.h"
#include "workloads/unit_name.h"

namespace keplerd {
namespace {

constexpr Nanoseconds kYoung = std::chrono::minutes(1);
constexpr std::size_t kMostEnded = 1'000;  // whose groups and keys are kept

}  // namespace

std::string_view workload_path(std::string_view path) {
  const auto around = enclosing_workloads(path);
  for (auto workload = around.rbegin(); workload != around.rend(); ++workload)
    if (workload->workload.kind != CgroupKind::kPod) return workload->path;
  for (std::string_view at = path; at.size() > 1;) {
    if (name_unit(at).is_unit) return at;
    const auto slash = at.rfind('/');
    if (slash == std::string_view::npos) break;
    at = at.substr(0, slash);
  }
  return path;
}

void WorkloadKeys::find(const UsageSample& usage, Nanoseconds window, std::vector<std::uint64_t>& keys) {
  now_ += window;
  const bool is_first = windows_++ == 0;
  keys.resize(usage.groups.size());
  for (std::size_t i = 0; i < usage.groups.size(); ++i) {
    const GroupUsage& usage_of_group = usage.groups[i];
    const auto [entry, is_new] = groups_.try_emplace(usage_of_group.incarnation);
    Group& group = entry->second;
    if (is_new) group = {key_of(workload_path(usage_of_group.path)), is_first ? now_ - kYoung : now_};
    group.seen = windows_;
    const bool is_young = now_ - group.born < kYoung && usage_of_group.parent != kNoGroup;
    keys[i] = is_young ? keys[usage_of_group.parent] : group.key;
  }
  forget_ended(usage.groups.size());
}

std::uint64_t WorkloadKeys::key_of(std::string_view path) {
  const auto [entry, is_new] = keys_.try_emplace(std::string(path), last_key_ + 1);
  if (is_new) paths_[++last_key_] = path;
  return entry->second;
}

std::string_view WorkloadKeys::path_of(std::uint64_t key) const {
  const auto path = paths_.find(key);
  return path == paths_.end() ? std::string_view() : path->second;
}

void WorkloadKeys::forget_ended(std::size_t running) {
  if (groups_.size() > running + kMostEnded)
    std::erase_if(groups_, [this](const auto& entry) { return entry.second.seen != windows_; });
  if (keys_.size() <= groups_.size() + kMostEnded) return;
  std::unordered_set<std::uint64_t> used;
  for (const auto& [incarnation, group] : groups_) used.insert(group.key);
  std::erase_if(keys_, [&](const auto& entry) { return !used.contains(entry.second); });
  std::erase_if(paths_, [&](const auto& entry) { return !used.contains(entry.first); });
}

}  // namespace keplerd
