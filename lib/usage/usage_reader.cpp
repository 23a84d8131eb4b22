// SPDX-License-Identifier: Apache-2.0
#include "usage/usage_reader.h"

#include <cstdint>
#include <unordered_map>

#include "host/host_root.h"

namespace keplerd {

namespace {

template <class Limits>
Limits with_budget(Limits limits, DescriptorBudget& budget) {
  limits.descriptors = &budget;
  return limits;
}

// It is in the sample for the device that it used, and its time is that of an earlier one.
bool was_not_read(const ProcessUsage& process, const UsageSample& sample) {
  if (process.group == kNoGroup || !process.before) return false;
  const GroupUsage& group = sample.groups[process.group];
  return group.behind && process.before->group == group.incarnation;
}

}  // namespace

UsageReader::UsageReader(const HostRoot& host, UsageLimits limits)
    : host_(host),
      descriptors_(limits.descriptors),
      stat_(host.procfs()),
      processes_(host, with_budget(limits.processes, descriptors_)),
      processors_(host, descriptors_),
      allowed_cpus_(host),
      devices_(host) {
  if (const auto root = host.cgroupfs())
    tree_ = std::make_unique<CgroupTree>(*root, with_budget(limits.groups, descriptors_));
}

void UsageReader::read_limits(bool wanted) {
  if (!wanted) {
    limits_.reset();
  } else if (!limits_) {
    limits_.emplace(host_);
  }
}

void UsageReader::resume(const SavedUsage& saved) {
  if (tree_) tree_->resume(saved);
  processes_.resume(saved);
}

SavedUsage UsageReader::changed(const UsageSample& sample) const {
  SavedUsage usage;
  usage.ticks = sample.ticks;
  usage.complete = groups_left_out() == 0;
  if (tree_) usage.groups = tree_->changed();
  for (const ProcessUsage& process : sample.processes) {
    if (was_not_read(process, sample)) continue;
    const std::uint64_t group = process.group == kNoGroup ? 0 : sample.groups[process.group].identity;
    usage.processes.push_back({process.id, group, process.usage});
  }
  usage.behind = processes_.fallen_behind();
  return usage;
}

SavedUsage UsageReader::all(const UsageSample& sample) const {
  SavedUsage usage;
  usage.ticks = sample.ticks;
  usage.complete = groups_left_out() == 0;
  if (tree_) usage.groups = tree_->all();
  std::unordered_map<std::uint64_t, std::uint64_t> identities{{0, 0}};  // by incarnation
  for (const GroupUsage& group : sample.groups) identities.emplace(group.incarnation, group.identity);
  usage.processes = processes_.all();
  std::erase_if(usage.processes, [&](SavedUsage::Process& process) {
    const auto identity = identities.find(process.group);
    if (identity == identities.end()) return true;
    process.group = identity->second;
    return false;
  });
  return usage;
}

Result<Done> UsageReader::read(Nanoseconds boottime, UsageSample& sample) {
  const auto stat = stat_.read();
  if (!stat) return stat.error();
  const auto fields = parse_cpu_fields(*stat);
  if (!fields) return fields.error();
  sample.stat = *fields;
  sample.ticks = add_up(*fields);
  sample.forks = parse_forks(*stat);
  // The file exists if the kernel accounts interrupt time separately (CONFIG_IRQ_TIME_ACCOUNTING), since
  // Linux 6.1.
  if (!interrupts_apart_) interrupts_apart_ = read_identity(host_.procfs(), "pressure/irq").ok();
  sample.interrupts_apart = *interrupts_apart_;
  sample.groups.clear();
  sample.parts.clear();
  sample.devices.clear();  // they refer to processes
  if (tree_) {
    tree_->read(sample.groups, sample.forks);
    sample.parts = tree_->parts();
  }
  if (runs_vm_) processes_.demand_groups(allowed_cpus_.due(boottime, sample));
  processes_.read(tree_.get(), boottime, sample);
  devices_.read(boottime, tree_.get(), processes_, sample);
  sample.limits.clear();
  sample.host = {};
  if (limits_) limits_->read(tree_.get(), *stat, boottime, sample);
  sample.cpus.clear();
  sample.cpu_classes.clear();
  if (!runs_vm_) return Done{};
  processors_.read(*stat, sample.cpus);
  allowed_cpus_.read(tree_.get(), boottime, runs_vm_, sample);
  return Done{};
}

}  // namespace keplerd
