// SPDX-License-Identifier: Apache-2.0
#include "usage/allowed_cpus.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/cpu_list.h"
#include "base/parse.h"
#include "host/host_root.h"
#include "usage/cgroup_tree.h"
#include "usage/cpu_classes.h"
#include "usage/thread_cpus.h"

namespace keplerd {
namespace {

constexpr std::size_t kMostExamined = 64;  // in one sample
constexpr Nanoseconds kEarly = std::chrono::seconds(10), kLater = std::chrono::seconds(60);
constexpr std::size_t kMostProcesses = 4;  // of a group
constexpr std::size_t kMostThreads = 256;  // of a VM

constexpr std::size_t kLongestCpuset = 32 << 10;  // every second one of 8,192 CPUs

Nanoseconds time_of(const ProcessUsage* process) {
  return process->before ? process->usage - process->before->usage : Nanoseconds{0};
}

}  // namespace

// Reads each file once; and whether the groups in a group have one is the same for all of them: its
// cgroup.subtree_control decides.
class AllowedCpus::Cpusets {
 public:
  Cpusets(CgroupTree& tree, const UsageSample& sample) : tree_(tree), groups_(sample.groups) {}

  // Of the group, or of the nearest one above it that has such a file. Empty if they are not known.
  const std::vector<int>& of(std::size_t index) {
    const auto [known, is_new] = known_.try_emplace(index);
    if (is_new) known->second = read(index);
    return known->second;
  }

 private:
  std::vector<int> read(std::size_t index) {
    const std::optional<std::size_t> parent =
        index == kNoGroup ? std::nullopt : std::optional(groups_[index].parent);
    if (!parent || !without_.contains(*parent)) {
      const auto text = tree_.read_group_file(index, "cpuset.cpus.effective", buffer_);
      if (text) return parse_cpu_list(*text).value_or(std::vector<int>{});
      if (parent && text.error().code == ENOENT && is_there(index)) without_.insert(*parent);
    }
    return parent ? of(*parent) : std::vector<int>{};
  }

  // A group that has just been removed has no files at all.
  bool is_there(std::size_t index) { return tree_.read_group_file(index, "cgroup.events", buffer_).ok(); }

  CgroupTree& tree_;
  const std::vector<GroupUsage>& groups_;
  std::map<std::size_t, std::vector<int>> known_;  // by the index of the group
  std::set<std::size_t> without_;                  // groups in which none has such a file
  std::array<char, kLongestCpuset> buffer_;
};

bool is_vcpu_thread(std::string_view comm) {
  return comm.starts_with("CPU ") && (comm.ends_with("/KVM") || comm.ends_with("/TCG"));
}

void AllowedCpus::read(CgroupTree* tree, Nanoseconds now, const RunsVm& runs_vm, UsageSample& sample) {
  online_.clear();
  for (const CpuUsage& cpu : sample.cpus) online_.push_back(cpu.number);
  if (tree != nullptr) examine_due(*tree, now, runs_vm, sample);
  const auto cpus_of = [&](std::size_t i) {
    const auto group = groups_.find(sample.groups[i].incarnation);
    return group == groups_.end() ? nullptr : &group->second.cpus;
  };
  assign_cpu_classes(cpus_of, sample);
  forget_ended(sample);
}

std::vector<std::uint64_t> AllowedCpus::due(Nanoseconds now, const UsageSample& sample) const {
  std::vector<std::uint64_t> due;
  for (const GroupUsage& usage : sample.groups) {
    if (due.size() == kMostExamined) break;
    const auto group = groups_.find(usage.incarnation);
    if (has_run(usage) && (group == groups_.end() || now >= group->second.due))
      due.push_back(usage.incarnation);
  }
  return due;
}

void AllowedCpus::examine_due(CgroupTree& tree, Nanoseconds now, const RunsVm& runs_vm,
                              const UsageSample& sample) {
  std::map<std::size_t, Processes> due;  // by the index of the group
  for (std::size_t i = 0; i < sample.groups.size() && due.size() < kMostExamined; ++i) {
    if (has_run(sample.groups[i]) && !sample.groups[i].behind &&
        now >= groups_[sample.groups[i].incarnation].due)
      due[i];
  }
  if (due.empty()) return;
  for (const ProcessUsage& process : sample.processes) {
    const auto group = due.find(process.group);
    if (group != due.end() && time_of(&process) > Nanoseconds{0}) group->second.push_back(&process);
  }
  Cpusets cpusets(tree, sample);
  for (auto& [index, processes] : due) {
    Group& group = groups_[sample.groups[index].incarnation];
    examine(cpusets.of(index), std::move(processes), runs_vm, group);
    group.due = now + (group.examined++ == 0 ? kEarly : kLater);
  }
}

// `cpuset`: empty if it is not known.
void AllowedCpus::examine(const std::vector<int>& cpuset, Processes processes, const RunsVm& runs_vm,
                          Group& group) {
  std::ranges::sort(processes, std::greater<>{}, time_of);
  if (processes.size() > kMostProcesses) processes.resize(kMostProcesses);
  std::set<int> together;
  std::vector<std::int32_t> vcpus;
  for (const ProcessUsage* process : processes) {
    std::vector<int> cpus;
    if (runs_vm(process->id)) cpus = cpus_of_vcpus(process->id.pid, group.vcpus, vcpus);
    if (cpus.empty()) cpus = read_thread_cpus(host_, process->id.pid, std::to_string(process->id.pid));
    together.insert(cpus.begin(), cpus.end());
  }
  std::ranges::sort(vcpus);
  group.vcpus = std::move(vcpus);
  const std::vector<int>& inside = cpuset.empty() ? online_ : cpuset;
  group.cpus.clear();
  if (together.empty()) {
    std::ranges::set_intersection(inside, online_, std::back_inserter(group.cpus));
  } else {
    std::ranges::set_intersection(inside, together, std::back_inserter(group.cpus));
  }
  if (std::ranges::includes(group.cpus, online_)) group.cpus.clear();
}

// Empty if it has none. `known`: the group's vCPUs at the last examination, which are not asked for their
// names again. Those of the process are appended to `vcpus`.
std::vector<int> AllowedCpus::cpus_of_vcpus(std::int32_t pid, const std::vector<std::int32_t>& known,
                                            std::vector<std::int32_t>& vcpus) const {
  const std::string tasks = std::to_string(pid) + "/task";
  const auto threads = list_directory(host_.procfs(), tasks.c_str(), kMostThreads);
  if (!threads) return {};
  std::set<int> together;
  for (const std::string& name : *threads) {
    const auto tid = parse_number<std::int32_t>(name);
    const std::string directory = fmt::format("{}/{}", tasks, name);
    if (!tid || !(std::ranges::binary_search(known, *tid) || has_name_of_vcpu(directory))) continue;
    vcpus.push_back(*tid);
    const auto cpus = read_thread_cpus(host_, *tid, directory);
    together.insert(cpus.begin(), cpus.end());
  }
  return {together.begin(), together.end()};
}

bool AllowedCpus::has_name_of_vcpu(const std::string& thread) const {
  std::array<char, 64> buffer;
  const auto comm = read_file(host_.procfs(), (thread + "/comm").c_str(), buffer);
  return comm && is_vcpu_thread(trim(*comm));
}

void AllowedCpus::forget_ended(const UsageSample& sample) {
  if (groups_.size() <= 2 * sample.groups.size()) return;
  std::set<std::uint64_t> there;
  for (const GroupUsage& group : sample.groups) there.insert(group.incarnation);
  std::erase_if(groups_, [&](const auto& entry) { return !there.contains(entry.first); });
}

}  // namespace keplerd
