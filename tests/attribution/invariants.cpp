// SPDX-License-Identifier: Apache-2.0
#include "attribution/invariants.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

// Computed independently, from the sample alone.
struct Times {
  std::vector<Nanoseconds> own;      // of the groups, before deficits are deducted; may be negative
  std::vector<Nanoseconds> process;  // 0 unless in the same group at both ends
};

Times times_of(const UsageSample& usage) {
  Times times;
  times.own.resize(usage.groups.size());
  for (std::size_t i = 0; i < usage.groups.size(); ++i) {
    const GroupUsage& group = usage.groups[i];
    const Nanoseconds time = group.usage - group.before.value_or(group.usage);
    times.own[i] += time;
    if (group.parent != kNoGroup) times.own[group.parent] -= time;
  }
  for (const ProcessUsage& process : usage.processes) {
    const std::uint64_t group = process.group == kNoGroup ? 0 : usage.groups[process.group].incarnation;
    const bool stayed = process.before && process.before->group == group;
    times.process.push_back(stayed ? process.usage - process.before->usage : Nanoseconds{0});
  }
  return times;
}

void expect_not_negative(const ZoneAttribution& zone) {
  for (const Microjoules part : {zone.energy, zone.idle, zone.kernel, zone.unattributed}) {
    EXPECT_GE(part, Microjoules{});
  }
  for (const auto* parts : {&zone.group, &zone.own, &zone.other, &zone.process, &zone.put_off, &zone.late,
                            &zone.late_other, &zone.late_error}) {
    for (const Microjoules part : *parts) EXPECT_GE(part, Microjoules{});
  }
}

void expect_host_sum(const ZoneAttribution& zone, const UsageSample& usage) {
  Microjoules sum = zone.idle + zone.kernel + zone.unattributed;
  for (const Microjoules own : zone.own) sum += own;
  for (std::size_t i = 0; i < usage.processes.size(); ++i) {
    if (usage.processes[i].group == kNoGroup) sum += zone.process[i];
  }
  EXPECT_EQ(sum, zone.energy) << "idle + kernel + workloads + unattributed";
}

void expect_group_sums(const ZoneAttribution& zone, const UsageSample& usage) {
  std::vector<Microjoules> parts = zone.other;
  for (std::size_t i = 0; i < usage.processes.size(); ++i) {
    if (usage.processes[i].group != kNoGroup) parts[usage.processes[i].group] += zone.process[i];
  }
  std::vector<Microjoules> late = zone.late_other;
  for (std::size_t i = 0; i < zone.late.size(); ++i) {
    if (usage.processes[i].group != kNoGroup) {
      late[usage.processes[i].group] += zone.late[i];
    } else {
      EXPECT_EQ(zone.late[i], Microjoules{}) << "outside any group";
    }
  }
  EXPECT_EQ(late, zone.late_group) << "late of processes + late other";
  std::vector<Microjoules> tree = zone.own;
  for (std::size_t i = 0; i < usage.groups.size(); ++i) {
    EXPECT_EQ(parts[i] + zone.put_off[i], zone.own[i])
        << "processes + other + put off of " << usage.groups[i].path;
    if (usage.groups[i].parent != kNoGroup) tree[usage.groups[i].parent] += zone.group[i];
  }
  for (std::size_t i = 0; i < usage.groups.size(); ++i) {
    EXPECT_EQ(tree[i], zone.group[i]) << "own + children of " << usage.groups[i].path;
  }
}

void expect_nothing_for_nothing(const ZoneAttribution& zone, const UsageSample& usage) {
  const Times times = times_of(usage);
  for (std::size_t i = 0; i < usage.groups.size(); ++i) {
    if (times.own[i] <= Nanoseconds{0}) {
      EXPECT_EQ(zone.own[i], Microjoules{}) << usage.groups[i].path;
    }
  }
  for (std::size_t i = 0; i < usage.processes.size(); ++i) {
    const ProcessUsage& process = usage.processes[i];
    if (times.process[i] == Nanoseconds{0}) {
      EXPECT_EQ(zone.process[i], Microjoules{}) << process.id.pid;
    }
    const bool in_kernel = process.kernel_thread && process.group == kNoGroup;
    if (in_kernel) {
      EXPECT_EQ(zone.process[i], Microjoules{}) << process.id.pid;
    }
  }
}

}  // namespace

void expect_exact_sums(const Attribution& attribution, const Sample& sample,
                       const std::vector<Microjoules>& deltas) {
  const UsageSample& usage = sample.usage;
  ASSERT_EQ(attribution.zones.size(), deltas.size());
  for (std::size_t i = 0; i < deltas.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "zone " << i);
    const ZoneAttribution& zone = attribution.zones[i];
    ASSERT_EQ(zone.own.size(), usage.groups.size());
    ASSERT_EQ(zone.process.size(), usage.processes.size());
    EXPECT_EQ(zone.energy, deltas[i]);
    if (!zone.read) {
      EXPECT_EQ(zone.energy, Microjoules{});
    }
    expect_not_negative(zone);
    expect_host_sum(zone, usage);
    expect_group_sums(zone, usage);
  }
}

void ExpectDeferred::window(const Attribution& attribution, const Sample& sample) {
  std::map<std::pair<std::uint64_t, std::size_t>, Microjoules> owed;
  for (std::size_t i = 0; i < sample.usage.groups.size(); ++i) {
    const GroupUsage& group = sample.usage.groups[i];
    for (std::size_t z = 0; z < attribution.zones.size(); ++z) {
      const ZoneAttribution& zone = attribution.zones[z];
      const auto before = owed_.find({group.incarnation, z});
      const Microjoules earlier = before == owed_.end() ? Microjoules{} : before->second;
      const Microjoules late = zone.late_group.empty() ? Microjoules{} : zone.late_group[i];
      EXPECT_EQ(late, group.behind ? Microjoules{} : earlier) << "late of " << group.path;
      if (group.behind) {
        owed[{group.incarnation, z}] = earlier + zone.put_off[i];
      } else {
        EXPECT_EQ(zone.put_off[i], Microjoules{}) << group.path;
      }
    }
  }
  owed_ = std::move(owed);
}

void expect_invariants(const Attribution& attribution, const Sample& sample,
                       const std::vector<Microjoules>& deltas) {
  expect_exact_sums(attribution, sample, deltas);
  if (testing::Test::HasFatalFailure()) return;
  for (std::size_t i = 0; i < deltas.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "zone " << i);
    expect_nothing_for_nothing(attribution.zones[i], sample.usage);
  }
}

}  // namespace keplerd
