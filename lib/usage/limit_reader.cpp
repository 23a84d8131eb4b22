// SPDX-License-Identifier: Apache-2.0
#include "usage/limit_reader.h"

#include <array>
#include <unordered_set>

#include "base/parse.h"
#include "host/host_root.h"
#include "host/kept_file.h"
#include "usage/cgroup_files.h"
#include "usage/cgroup_tree.h"

namespace keplerd {
namespace {

// In one sample. Ordinary users may create any number of groups, but they do not delay the system's.
constexpr std::size_t kMostRead = 256, kMostReadOfUsers = 128;
constexpr Nanoseconds kEarly = std::chrono::seconds(10), kLater = std::chrono::seconds(60);

// A file that a group lacks, because its controller is not enabled, limits nothing.
GroupLimits read_limits(CgroupTree& tree, std::size_t index) {
  std::array<char, 64> buffer;
  GroupLimits limits;
  if (const auto text = tree.read_group_file(index, "cpu.max", buffer))
    if (const auto cpu_time = parse_cpu_max(*text)) limits.cpu_time = *cpu_time;
  if (const auto text = tree.read_group_file(index, "memory.max", buffer))
    if (const auto memory = parse_memory_max(*text)) limits.memory = *memory;
  return limits;
}

}  // namespace

Result<std::int64_t> parse_total_memory(std::string_view meminfo) {
  constexpr std::int64_t kMost = INT64_MAX / 1024;
  while (!meminfo.empty()) {
    std::string_view line = take_until(meminfo, '\n');
    if (take_word(line) != "MemTotal:") continue;
    const auto kibibytes = parse_number<std::int64_t>(take_word(line));
    if (!kibibytes || *kibibytes <= 0 || *kibibytes > kMost || trim(line) != "kB") break;
    return *kibibytes * 1024;
  }
  return Error{"/proc/meminfo: no MemTotal"};
}

void LimitReader::read(CgroupTree* tree, std::string_view stat, Nanoseconds now, UsageSample& sample) {
  read_host(stat, now, sample.host);
  if (tree != nullptr) read_due(*tree, now, sample.groups);
  sample.limits.clear();
  sample.limits_unread = 0;
  for (const GroupUsage& group : sample.groups) {
    const auto known = groups_.find(group.incarnation);
    if (known == groups_.end()) ++sample.limits_unread;
    sample.limits.push_back(known == groups_.end() ? GroupLimits() : known->second.limits);
  }
  forget_ended(sample.groups);
}

void LimitReader::read_due(CgroupTree& tree, Nanoseconds now, const std::vector<GroupUsage>& groups) {
  std::size_t left = kMostRead, left_of_users = kMostReadOfUsers;
  const std::size_t first = first_;
  for (std::size_t n = 0; n < groups.size() && left > 0; ++n) {
    const std::size_t i = (first + n) % groups.size();
    const bool is_users = groups[i].parent_owner != 0;
    if (is_users && left_of_users == 0) continue;
    Group& group = groups_[groups[i].incarnation];
    if (group.times > 0 && now < group.due) continue;
    group.limits = read_limits(tree, i);
    group.due = now + (group.times++ == 0 ? kEarly : kLater);
    first_ = i + 1;
    --left;
    if (is_users) --left_of_users;
  }
}

void LimitReader::read_host(std::string_view stat, Nanoseconds now, HostSize& host) {
  if (memory_ == 0 || now >= memory_due_) {
    std::array<char, 256> buffer;
    const auto text = read_beginning(host_.procfs(), "meminfo", buffer);
    const auto memory = parse_total_memory(text ? *text : std::string_view());
    memory_ = memory ? *memory : 0;
    memory_due_ = now + kLater;
  }
  parse_cpu_lines(stat, cpu_lines_);
  host = {static_cast<int>(cpu_lines_.size()), memory_};
}

void LimitReader::forget_ended(const std::vector<GroupUsage>& groups) {
  if (groups_.size() <= 2 * groups.size()) return;
  std::unordered_set<std::uint64_t> there;
  for (const GroupUsage& group : groups) there.insert(group.incarnation);
  std::erase_if(groups_, [&](const auto& entry) { return !there.contains(entry.first); });
}

}  // namespace keplerd
