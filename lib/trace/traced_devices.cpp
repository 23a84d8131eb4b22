// SPDX-License-Identifier: Apache-2.0
#include "trace/traced_devices.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/pci_address.h"
#include "usage/process_id.h"

namespace keplerd {
namespace {

using Kind = TraceValue::Kind;

constexpr std::size_t kMostDevices = 64;
constexpr std::int64_t kMostUse = std::int64_t{1} << 60;  // ns, of a device: sums fit

Error bad_devices() { return Error{"'devices' is malformed or out of range"}; }

std::string device_json(const DeviceUsage& device, const UsageSample& usage,
                        const std::function<std::string(std::string_view path)>& quoted) {
  std::map<std::size_t, Nanoseconds> groups;
  std::map<ProcessId, Nanoseconds> outside;
  Nanoseconds nobody{0};
  for (const EngineUse& use : device.uses) {
    const bool is_outside = use.group == kNoGroup && use.process != kNoProcess;
    if (use.group != kNoGroup) {
      groups[use.group] += use.time;
    } else if (is_outside && !usage.processes[use.process].kernel_thread) {
      outside[usage.processes[use.process].id] += use.time;
    } else {
      nobody += use.time;
    }
  }
  std::string of_groups, of_outside;
  for (const auto& [group, time] : groups)
    append_item(of_groups, fmt::format("{}:{}", quoted(usage.groups[group].path), time.count()));
  for (const auto& [id, time] : outside)
    append_item(of_outside, fmt::format("\"{}\":{}", process_id_text(id), time.count()));
  return fmt::format(R"({{"address":"{}","groupsNsec":{{{}}},"outsideNsec":{{{}}},"nobodyNsec":{}}})",
                     device.address, of_groups, of_outside, nobody.count());
}

std::optional<Nanoseconds> use_of(const TraceValue& value, std::int64_t& left) {
  if (!value.is(Kind::kInteger) || value.integer < 0 || value.integer > left) return std::nullopt;
  left -= value.integer;
  return Nanoseconds{value.integer};
}

class DeviceTaker {
 public:
  explicit DeviceTaker(UsageSample& usage) : usage_(usage) {
    for (std::size_t i = 0; i < usage.groups.size(); ++i) groups_[usage.groups[i].path] = i;
    for (std::size_t i = 0; i < usage.processes.size(); ++i) processes_[usage.processes[i].id] = i;
  }

  Result<Done> take(const TraceValue& value) {
    if (!value.is(Kind::kObject)) return bad_devices();
    const TraceValue* const address = value.find("address");
    if (address == nullptr || !address->is(Kind::kText) || pci_address(address->text) != address->text ||
        !addresses_.insert(std::string(address->text)).second)
      return bad_devices();
    DeviceUsage device{std::string(address->text), {}};
    std::int64_t left = kMostUse;
    const bool is_good = take_groups(value.find("groupsNsec"), device, left) &&
                         take_outside(value.find("outsideNsec"), device, left) &&
                         take_nobody(value.find("nobodyNsec"), device, left);
    if (!is_good) return bad_devices();
    usage_.devices.push_back(std::move(device));
    return Done{};
  }

 private:
  bool take_groups(const TraceValue* times, DeviceUsage& device, std::int64_t& left) const {
    if (times == nullptr || !times->is(Kind::kObject)) return times == nullptr;
    for (std::size_t i = 0; i < times->items.size(); ++i) {
      const auto group = groups_.find(times->keys[i]);
      const auto time = use_of(times->items[i], left);
      if (group == groups_.end() || !time) return false;
      device.uses.push_back({.group = group->second, .time = *time});
    }
    return true;
  }

  bool take_outside(const TraceValue* times, DeviceUsage& device, std::int64_t& left) const {
    if (times == nullptr || !times->is(Kind::kObject)) return times == nullptr;
    for (std::size_t i = 0; i < times->items.size(); ++i) {
      const auto id = parse_process_id(times->keys[i]);
      const auto time = use_of(times->items[i], left);
      const auto process = id ? processes_.find(*id) : processes_.end();
      if (process == processes_.end() || !time) return false;
      device.uses.push_back({.process = process->second, .time = *time});
    }
    return true;
  }

  static bool take_nobody(const TraceValue* value, DeviceUsage& device, std::int64_t& left) {
    if (value == nullptr) return true;
    const auto time = use_of(*value, left);
    if (time && *time > Nanoseconds{0}) device.uses.push_back({.time = *time});
    return time.has_value();
  }

  UsageSample& usage_;
  std::unordered_map<std::string_view, std::size_t> groups_;
  std::map<ProcessId, std::size_t> processes_;
  std::set<std::string> addresses_;
};

}  // namespace

std::string traced_devices(const UsageSample& usage,
                           const std::function<std::string(std::string_view path)>& quoted) {
  std::string list;
  for (const DeviceUsage& device : usage.devices) append_item(list, device_json(device, usage, quoted));
  return list;
}

Result<Done> take_devices(const TraceValue& sample, UsageSample& usage) {
  usage.devices.clear();
  const TraceValue* const devices = sample.find("devices");
  if (devices == nullptr) return Done{};
  if (!devices->is(Kind::kList) || devices->items.size() > kMostDevices) return bad_devices();
  DeviceTaker taker(usage);
  for (const TraceValue& device : devices->items)
    if (const auto taken = taker.take(device); !taken) return taken;
  return Done{};
}

}  // namespace keplerd
