// SPDX-License-Identifier: Apache-2.0
#include "usage/allowed_cpus.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/cpu_list.h"
#include "base/parse.h"
#include "host/host_root.h"
#include "usage/cgroup_tree.h"
#include "usage/cpu_classes.h"

namespace keplerd {
namespace {

constexpr std::size_t kMostExamined = 64;  // in one sample
constexpr Nanoseconds kEarly = std::chrono::seconds(10), kLater = std::chrono::seconds(60);
constexpr std::size_t kMostProcesses = 4;  // of a group
constexpr std::size_t kMostThreads = 256;  // of a VM

Nanoseconds time_of(const ProcessUsage* process) {
  return process->before ? process->usage - process->before->usage : Nanoseconds{0};
}

}  // namespace

bool ThreadStatus::is_vcpu() const {
  return name.starts_with("CPU ") && (name.ends_with("/KVM") || name.ends_with("/TCG"));
}

ThreadStatus parse_thread_status(std::string_view status) {
  ThreadStatus thread;
  while (!status.empty()) {
    std::string_view line = take_until(status, '\n');
    if (take_prefix(line, "Name:")) {
      thread.name = trim(line);
    } else if (take_prefix(line, "Cpus_allowed_list:")) {
      thread.cpus = parse_cpu_list(line).value_or(std::vector<int>{});
    }
  }
  return thread;
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
  for (auto& [index, processes] : due) {
    Group& group = groups_[sample.groups[index].incarnation];
    examine(tree, index, std::move(processes), runs_vm, group);
    group.due = now + (group.examined++ == 0 ? kEarly : kLater);
  }
}

void AllowedCpus::examine(CgroupTree& tree, std::size_t index, Processes processes, const RunsVm& runs_vm,
                          Group& group) {
  const auto cpuset = parse_cpu_list(tree.read_cpuset(index)).value_or(std::vector<int>{});
  std::ranges::sort(processes, std::greater<>{}, time_of);
  if (processes.size() > kMostProcesses) processes.resize(kMostProcesses);
  std::set<int> together;
  for (const ProcessUsage* process : processes) {
    const auto cpus = cpus_of(*process, runs_vm(process->id));
    together.insert(cpus.begin(), cpus.end());
  }
  const std::vector<int>& inside = cpuset.empty() ? online_ : cpuset;
  group.cpus.clear();
  if (together.empty()) {
    std::ranges::set_intersection(inside, online_, std::back_inserter(group.cpus));
  } else {
    std::ranges::set_intersection(inside, together, std::back_inserter(group.cpus));
  }
  if (std::ranges::includes(group.cpus, online_)) group.cpus.clear();
}

// Empty if they are not known.
std::vector<int> AllowedCpus::cpus_of(const ProcessUsage& process, bool is_vm) {
  if (is_vm) {
    auto cpus = cpus_of_vcpus(process.id.pid);
    if (!cpus.empty()) return cpus;
  }
  std::array<char, 8192> buffer;
  const auto status =
      read_beginning(host_.procfs(), (std::to_string(process.id.pid) + "/status").c_str(), buffer);
  return status ? parse_thread_status(*status).cpus : std::vector<int>{};
}

std::vector<int> AllowedCpus::cpus_of_vcpus(std::int32_t pid) {
  const std::string tasks = std::to_string(pid) + "/task";
  const auto threads = list_directory(host_.procfs(), tasks.c_str(), kMostThreads);
  if (!threads) return {};
  std::set<int> together;
  std::array<char, 8192> buffer;
  for (const std::string& thread : *threads) {
    const auto text =
        read_beginning(host_.procfs(), fmt::format("{}/{}/status", tasks, thread).c_str(), buffer);
    if (!text) continue;
    const ThreadStatus status = parse_thread_status(*text);
    if (status.is_vcpu()) together.insert(status.cpus.begin(), status.cpus.end());
  }
  return {together.begin(), together.end()};
}

void AllowedCpus::forget_ended(const UsageSample& sample) {
  if (groups_.size() <= 2 * sample.groups.size()) return;
  std::set<std::uint64_t> there;
  for (const GroupUsage& group : sample.groups) there.insert(group.incarnation);
  std::erase_if(groups_, [&](const auto& entry) { return !there.contains(entry.first); });
}

}  // namespace keplerd
