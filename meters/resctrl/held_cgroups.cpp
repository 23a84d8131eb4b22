// SPDX-License-Identifier: Apache-2.0
#include "meters/resctrl/held_cgroups.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "base/parse.h"
#include "host/host_root.h"
#include "meters/resctrl/threads.h"
#include "usage/process_stat.h"

namespace keplerd::resctrl {
namespace {

constexpr std::size_t kMostVisited = 20'000, kMostVisitedAtLeast = 100;  // for all groups, and for each
constexpr std::size_t kMostLevels = 32;
constexpr int kMostRefreshes = 3;  // of the tasks of a group

using Threads = std::vector<std::int32_t>;

// The scope or service that a cgroup is in, or is itself; empty if it is in none.
std::string_view unit_of(std::string_view path) {
  while (!path.empty() && !path.ends_with(".scope") && !path.ends_with(".service"))
    path = path.substr(0, path.find('/') == std::string_view::npos ? 0 : path.rfind('/'));
  return path;
}

}  // namespace

bool HeldCgroups::has_cpus(const Group& group) const {
  std::array<char, 4096> buffer;
  const auto text =
      read_file(host_.sysfs(), fmt::format("{}/{}/cpus_list", kRoot, group.path).c_str(), buffer);
  return text ? !trim(*text).empty() : !is_gone(text.error());
}

// The tasks of a control group include those of the groups inside.
std::map<std::uint64_t, HeldCgroups::Tasks> HeldCgroups::read_all(const std::vector<Group>& groups) const {
  std::map<std::uint64_t, Tasks> tasks;
  for (const Group& group : groups) {
    if (group.path.empty()) continue;
    auto threads = read_tasks(host_, group.path);
    const auto outer = tasks.find(group.parent);
    if (outer != tasks.end()) {
      Threads rest;
      if (threads) std::ranges::set_difference(outer->second.threads, *threads, std::back_inserter(rest));
      outer->second.threads = std::move(rest);
      outer->second.refreshes = 0;
    }
    if (threads) tasks[group.id] = {&group, *std::move(threads), kMostRefreshes};
  }
  return tasks;
}

std::map<std::uint64_t, std::uint64_t> HeldCgroups::find(const std::vector<Group>& groups) {
  std::map<std::uint64_t, std::uint64_t> held;
  if (!host_.cgroupfs()) return held;
  auto all = read_all(groups);
  // One with many cgroups leaves the others theirs.
  const std::size_t of_each =
      std::max(kMostVisited / std::max<std::size_t>(all.size(), 1), kMostVisitedAtLeast);
  for (auto& [group, tasks] : all) {
    left_to_visit_ = of_each;
    if (has_cpus(*tasks.group)) continue;
    if (const auto cgroup = find_one(tasks)) held.emplace(group, *cgroup);
  }
  return held;
}

// Lists of tasks contain threads that have ended and have not been waited for, those of cgroups do not.
bool HeldCgroups::runs(std::int32_t thread) const {
  std::array<char, 4096> buffer;
  const auto stat = read_file(host_.procfs(), fmt::format("{}/stat", thread).c_str(), buffer);
  if (!stat) return !is_gone(stat.error());
  const std::size_t comm_end = stat->rfind(')');
  const std::string_view state =
      comm_end == std::string_view::npos ? "" : trim(stat->substr(comm_end + 1)).substr(0, 1);
  return state != "Z" && state != "X";
}

// It may have been created since the tasks were read.
bool HeldCgroups::has_thread(Tasks& tasks, std::int32_t thread) const {
  if (std::ranges::binary_search(tasks.threads, thread)) return true;
  if (tasks.refreshes == 0) return false;
  --tasks.refreshes;
  const auto now = read_tasks(host_, tasks.group->path);
  if (!now) return false;
  Threads all;
  std::ranges::set_union(tasks.threads, *now, std::back_inserter(all));
  tasks.threads = std::move(all);
  return std::ranges::binary_search(*now, thread);
}

// The path below the root of cgroup2, without a leading slash; empty for the root, and outside of it.
std::string HeldCgroups::cgroup_of(std::int32_t thread) const {
  std::array<char, 16'384> buffer;
  const auto text = read_file(host_.procfs(), fmt::format("{}/cgroup", thread).c_str(), buffer);
  std::string_view path = text ? parse_process_cgroup(*text) : std::string_view();
  if (!take_prefix(path, "/") || path.starts_with("..")) return {};
  return std::string(path);
}

// Collects the threads of a cgroup and of those below it, as far as they have not been removed meanwhile.
// False if there is one that is not in the group, and has not ended.
bool HeldCgroups::collect(const std::string& path, Tasks& tasks, Threads& found) {
  if (left_to_visit_ == 0) return false;
  --left_to_visit_;
  const int root = *host_.cgroupfs();
  const auto text = read_text(root, (path + "/cgroup.threads").c_str(), kLongestList);
  if (!text) return is_gone(text.error());
  for (const std::int32_t thread : parse_threads(*text)) {
    if (!has_thread(tasks, thread) && runs(thread)) return false;
    found.push_back(thread);
  }
  const auto names = list_subdirectories(root, path.c_str());
  if (!names) return is_gone(names.error());
  return std::ranges::all_of(
      *names, [&](const std::string& name) { return collect(path + "/" + name, tasks, found); });
}

// From the cgroup of any thread upwards. If all threads of a unit are in one cgroup below it, as those of
// libvirt's VMs, then it is the unit: this is what has an account.
std::optional<std::uint64_t> HeldCgroups::find_one(Tasks& tasks) {
  std::string path;
  for (std::size_t i = 0; i < tasks.threads.size() && path.empty(); ++i) {
    if (i == kMostLevels) return std::nullopt;
    path = cgroup_of(tasks.threads[i]);  // the first one may have ended
  }
  for (std::size_t level = 0; level < kMostLevels && !path.empty(); ++level) {
    Threads found;
    if (!collect(path, tasks, found)) return std::nullopt;
    std::ranges::sort(found);
    const auto is_elsewhere = [&](std::int32_t thread) {
      return !std::ranges::binary_search(found, thread) && runs(thread);
    };
    if (std::ranges::none_of(tasks.threads, is_elsewhere)) {
      const std::string unit(unit_of(path));
      if (!unit.empty() && unit != path && collect(unit, tasks, found)) path = unit;
      const auto identity = read_identity(*host_.cgroupfs(), path.c_str());
      return identity ? std::optional(*identity) : std::nullopt;
    }
    const std::size_t end = path.rfind('/');
    path = end == std::string::npos ? std::string() : path.substr(0, end);
  }
  return std::nullopt;
}

}  // namespace keplerd::resctrl
