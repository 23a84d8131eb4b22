// SPDX-License-Identifier: Apache-2.0
#include "usage/device_reader.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "base/pci_address.h"
#include "base/text.h"
#include "host/host_root.h"
#include "host/regular_file.h"
#include "usage/cgroup_tree.h"
#include "usage/process_table.h"

namespace keplerd {
namespace {

constexpr Nanoseconds kScanPeriod = std::chrono::seconds(10);
constexpr std::size_t kMostDirectories = 100;
constexpr std::size_t kMostEntries = 1000;  // of a directory
constexpr std::size_t kMostLeftOut = 64;

std::uint64_t incarnation_of(std::size_t group, const UsageSample& sample) {
  return group == kNoGroup ? 0 : sample.groups[group].incarnation;
}

// As for CPU time, which is what the group had at both ends of the window that is its process's.
bool stayed(const ProcessUsage& process, const UsageSample& sample) {
  return process.before && process.before->group == incarnation_of(process.group, sample);
}

}  // namespace

DeviceReader::DeviceReader(const HostRoot& host) : watch_(DirectoryWatch::Entries::kWrittenFiles) {
  if (auto root = open_without_links(host.root(), ".")) root_ = *std::move(root);
}

void DeviceReader::read(Nanoseconds boottime, CgroupTree* tree, ProcessTable& processes,
                        UsageSample& sample) {
  sample.devices.clear();
  if (!scanned_ || boottime - *scanned_ >= kScanPeriod || boottime < *scanned_) {
    scanned_ = boottime;
    scan();
  }
  sample.counts.clear();
  read_files();
  for (auto& [address, device] : devices_) {
    if (device.count) {
      find_counts(boottime, device, sample);
      continue;
    }
    const auto uses = device.counter.advance(boottime);
    device.is_known = uses && device.problem.empty();
    if (!device.is_known) continue;
    DeviceUsage& usage = sample.devices.emplace_back(DeviceUsage{address, {}});
    find_users(*uses, tree, processes, sample, usage.uses);
  }
}

void DeviceReader::leave_out(const std::string& what, const std::string& why) {
  const std::string line = escape_name(what) + ": " + why;
  if (left_out_.size() < kMostLeftOut && std::ranges::count(left_out_, line) == 0) left_out_.push_back(line);
}

// Finds the directories. Those that are still there keep their readings.
void DeviceReader::scan() {
  left_out_.clear();
  std::vector<Directory> found;
  const auto root = open_roots(root_.get(), kUsageDirectories);
  if (root) {
    auto names = names_in(*root, kMostDirectories);
    if (!names) leave_out(kUsageDirectories, names.error().message);
    for (const std::string& name : names ? *names : std::vector<std::string>())
      scan_directory(root->fd.get(), name, found);
  } else if (root.error().code != ENOENT) {
    leave_out(kUsageDirectories, root.error().message);
  }
  for (const Directory& directory : directories_)
    if (directory.watch >= 0) watch_.remove(directory.watch);
  directories_ = std::move(found);
  find_devices();
  std::erase_if(groups_, [this](const auto& entry) {
    return std::ranges::none_of(devices_,
                                [&](const auto& device) { return device.second.counter.names(entry.first); });
  });
}

void DeviceReader::scan_directory(int root, const std::string& name, std::vector<Directory>& found) {
  auto open = open_owned(root, name);
  if (!open) return leave_out(name, open.error().message);
  const auto known = std::ranges::find_if(directories_, [&](const Directory& one) {
    return one.name == name && one.open.inode == open->inode && one.watch >= 0;
  });
  if (known != directories_.end()) {
    found.push_back(std::move(*known));
    known->watch = -1;
    return;
  }
  const auto handle = watch_.add(open->fd.get());
  found.push_back({name, *std::move(open), handle ? *handle : -1});
}

// The first directory that has a device is the one that is read.
void DeviceReader::find_devices() {
  std::map<std::string, Device, std::less<>> found;
  for (const Directory& directory : directories_) {
    auto names = names_in(directory.open, kMostEntries);
    if (!names) {
      leave_out(directory.name, names.error().message);
      continue;
    }
    for (const std::string& name : *names) {
      const std::string file = directory.name + "/" + name;
      if (name.ends_with('~')) continue;  // being written
      const std::optional<CountSource> count = parse_count_file_name(name);
      if (!count && pci_address(name) != name) {
        leave_out(file,
                  "is neither a PCI address in the kernel's form, such as 0000:03:00.0, nor a count, such as "
                  "memory-0 or cores-0");
      } else if (const auto other = found.find(name); other != found.end()) {
        leave_out(file, "is not read, because of " + other->second.file);
      } else if (found.size() == kMostUsedDevices) {
        leave_out(file, fmt::format("there are more than {} devices", kMostUsedDevices));
      } else {
        const auto known = devices_.find(name);
        const bool is_same = known != devices_.end() && known->second.file == file &&
                             known->second.inode == directory.open.inode;
        found.emplace(name, is_same ? std::move(known->second)
                                    : Device{.file = file, .inode = directory.open.inode, .count = count});
      }
    }
  }
  devices_ = std::move(found);
}

void DeviceReader::read_files() {
  bool has_other_files = false;
  const bool complete = watch_.drain([&](int handle, DirectoryWatch::Change, const std::string& name) {
    for (Directory& directory : directories_) {
      if (directory.watch != handle) continue;
      directory.changed = true;
      const auto known = devices_.find(name);
      has_other_files = has_other_files || (known == devices_.end() && !name.ends_with('~'));
    }
  });
  if (has_other_files) find_devices();
  for (Directory& directory : directories_) {
    if (complete && !directory.changed && directory.watch >= 0) continue;
    directory.changed = false;
    for (auto& [address, device] : devices_)
      if (device.file == directory.name + "/" + address) read_file(directory, address, device);
  }
}

void DeviceReader::read_file(const Directory& directory, const std::string& address, Device& device) {
  const auto text = read_owned(directory.open, address.c_str(), kLongestUsageFile);
  const auto take = [&](auto parse, auto& counter) {
    const auto reading = parse(**text);
    device.problem = reading ? std::string() : reading.error().message;
    if (reading) counter.take(*reading);
  };
  if (!text || !*text) {
    device.problem = text ? "it is gone" : text.error().message;
  } else if (device.count) {
    take(parse_count_file, device.counts);
  } else {
    take(parse_usage_file, device.counter);
  }
}

// A group that has ended, or of which the sample has no row, is one of the others.
void DeviceReader::find_counts(Nanoseconds boottime, Device& device, UsageSample& sample) {
  const auto known = device.counts.advance(boottime);
  device.is_known = known && device.problem.empty();
  if (!device.is_known) return;
  GroupCounts& counts =
      sample.counts.emplace_back(GroupCounts{.source = *device.count, .all = known->all, .groups = {}});
  for (std::size_t i = 0; i < sample.groups.size(); ++i) {
    const auto group = known->groups.find(sample.groups[i].identity);
    if (group != known->groups.end()) counts.groups.push_back({.group = i, .count = group->second});
  }
}

void DeviceReader::find_users(const UseCounter::Uses& uses, CgroupTree* tree, ProcessTable& processes,
                              UsageSample& sample, std::vector<EngineUse>& found) {
  for (const auto& [id, time] : uses) {
    EngineUse& use = found.emplace_back(EngineUse{.time = time});
    const std::size_t index = processes.find(id, sample);
    if (index != kNoProcess) {
      const ProcessUsage& process = sample.processes[index];
      use.group = process.group;
      if (stayed(process, sample)) use.process = index;
      groups_[id] = incarnation_of(process.group, sample);
      continue;
    }
    if (const auto known = groups_.find(id); known != groups_.end()) {
      use.group = group_with(sample, known->second);
    } else if (const auto group = processes.find_group(id, tree)) {
      use.group = *group;
    }
  }
}

std::optional<std::string> DeviceReader::why_unknown(std::string_view device) const {
  if (device.empty()) return "the PCI address of the card is not known";
  const auto known = devices_.find(device);
  if (known == devices_.end())
    return "no program reports which processes use the card: enable keplerd-drm.service for Intel and AMD, "
           "or "
           "keplerd-nvml.service for NVIDIA";
  const Device& one = known->second;
  if (one.is_known) return std::nullopt;
  const std::string file = std::string("/") + kUsageDirectories + "/" + one.file;
  if (!one.problem.empty()) return file + ": " + one.problem;
  return file + ": there are no two readings of the last seconds";
}

}  // namespace keplerd
