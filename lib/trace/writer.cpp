// SPDX-License-Identifier: Apache-2.0
#include "trace/writer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "trace/traced_counts.h"
#include "trace/traced_devices.h"
#include "usage/cpu_classes.h"
#include "usage/cpu_ticks.h"

namespace keplerd {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kTicksPerSecond = std::chrono::seconds(1) / kTick;

// In ASCII, so that a trace may be cut anywhere.
std::string quote(std::string_view text) {
  return Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);
}

// Items of a list or an object, to be put in its brackets.
struct Items {
  std::string text;

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    if (!text.empty()) text += ',';
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  }
};

Json zone_json(const Zone& zone, std::span<const CpuUsage> cpus) {
  Json json = {
      {"id", zone.id}, {"name", zone.name}, {"index", zone.index}, {"package", nullptr}, {"die", nullptr}};
  if (zone.resource == Resource::kCpu || zone.resource == Resource::kDram) {
    const auto on_die = std::ranges::find(cpus, zone.index, &CpuUsage::die);
    if (on_die != cpus.end()) json["die"] = zone.index;
    json["package"] = on_die != cpus.end() ? on_die->package : zone.index;
  }
  json["inTotal"] = zone.in_total;
  json["quality"] = quality_name(zone.quality);
  json["resource"] = resource_name(zone.resource);
  if (!zone.device.empty()) json["device"] = zone.device;
  json["rangeMicrojoules"] = zone.range.value;
  json["maxMicrowatts"] = zone.largest_limit.value;
  return json;
}

std::vector<int> cpus_of(const CpuSet& set, std::span<const CpuUsage> cpus) {
  std::vector<int> numbers;
  for (std::size_t c = 0; c < set.size() && c < cpus.size(); ++c)
    if (set[c] != 0) numbers.push_back(cpus[c].number);
  return numbers;
}

// "0-3,8"
std::string cpu_list(const std::vector<int>& cpus) {
  Items list;
  for (std::size_t begin = 0; begin < cpus.size();) {
    std::size_t end = begin;
    while (end + 1 < cpus.size() && cpus[end + 1] == cpus[end] + 1) ++end;
    end == begin ? list.add("{}", cpus[begin]) : list.add("{}-{}", cpus[begin], cpus[end]);
    begin = end + 1;
  }
  return list.text;
}

std::string limits_json(const GroupLimits& limits) {
  Items items;
  if (limits.cpu_time) items.add(R"("cpuMax":{})", to_usec(*limits.cpu_time));
  if (limits.memory) items.add(R"("memoryMax":{})", *limits.memory);
  if (limits.vcpus) items.add(R"("vcpus":{})", *limits.vcpus);
  return "{" + items.text + "}";
}

bool is_outside(const ProcessUsage& process) { return process.group == kNoGroup && !process.kernel_thread; }

// At the previous sample, if it was outside any group then, too.
std::optional<Nanoseconds> time_before(const ProcessUsage& process) {
  if (!process.before || process.before->group != 0) return std::nullopt;
  return process.before->usage;
}

}  // namespace

struct TraceWriter::Lists {
  Items ended, groups, places, before, owners, allowed, limits, outside, outside_ended, workloads;
};

TraceWriter::TraceWriter(TraceSettings settings) : settings_(std::move(settings)) {
  if (settings_.scramble_with) scrambler_.emplace(*settings_.scramble_with);
}

std::string TraceWriter::header(const Sample& sample, std::span<const Zone> zones) const {
  Json json = {{"trace", kTraceFormat}};
  if (scrambler_) json["anonymized"] = true;
  if (settings_.host && !scrambler_) json["host"] = *settings_.host;
  json["ticksPerSecond"] = kTicksPerSecond;
  json["irqApart"] = sample.usage.interrupts_apart;
  if (sample.usage.host.memory > 0) json["memoryTotal"] = sample.usage.host.memory;
  json["cpus"] = Json::array();
  for (const CpuUsage& cpu : sample.usage.cpus)
    json["cpus"].push_back(
        {{"cpu", cpu.number}, {"package", cpu.package}, {"die", cpu.die}, {"core", cpu.core}});
  json["zones"] = Json::array();
  for (const Zone& zone : zones) json["zones"].push_back(zone_json(zone, sample.usage.cpus));
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string TraceWriter::quoted(std::string_view path) const {
  return quote(scrambler_ ? scrambler_->path(path) : std::string(path));
}

std::string TraceWriter::write(const Sample& sample, std::span<const Zone> zones,
                               std::span<const TracedVm> vms) {
  ++number_;
  std::string text;
  std::string header = this->header(sample, zones);
  if (header != header_) {
    text = header + "\n";
    header_ = std::move(header);
    if (number_ == 1) text.replace(text.find(','), 1, R"(,"begins":true,)");
  }
  Lists lists;
  write_groups(sample.usage, lists);
  write_processes(sample.usage, lists);
  write_vms(vms, lists);
  add_kernel_time(sample.usage);

  Items counters, stat, khz, line;
  for (const auto& reading : sample.readings)
    reading ? counters.add("{}", reading->value) : counters.add("null");
  for (const CpuUsage& cpu : sample.usage.cpus) {
    stat.add("[{}]", fmt::join(cpu.stat, ","));
    cpu.khz > 0 ? khz.add("{}", cpu.khz) : khz.add("null");
  }
  line.add(R"("monotonicUsec":{},"boottimeUsec":{},"realtimeUsec":{})", to_usec(sample.at.monotonic),
           to_usec(sample.at.boottime), sample.at.realtime.count());
  if (left_out_ > 0) line.add(R"("leftOut":{})", left_out_);
  line.add(R"("counters":[{}],"hostStat":[{}],"stat":[{}],"khz":[{}])", counters.text,
           fmt::join(sample.usage.stat, ","), stat.text, khz.text);
  if (!lists.ended.text.empty()) line.add(R"("ended":[{}])", lists.ended.text);
  line.add(R"("groups":{{{}}})", lists.groups.text);
  if (!lists.places.text.empty()) line.add(R"("places":[{}])", lists.places.text);
  if (!lists.owners.text.empty()) line.add(R"("owners":{{{}}})", lists.owners.text);
  if (!lists.before.text.empty()) line.add(R"("before":{{{}}})", lists.before.text);
  if (!lists.allowed.text.empty()) line.add(R"("cpusAllowed":{{{}}})", lists.allowed.text);
  if (!lists.limits.text.empty()) line.add(R"("limits":{{{}}})", lists.limits.text);
  line.add(R"("kernelUsec":{})", to_usec(kernel_));
  if (!lists.outside.text.empty()) line.add(R"("outside":{{{}}})", lists.outside.text);
  if (!lists.outside_ended.text.empty()) line.add(R"("outsideEnded":[{}])", lists.outside_ended.text);
  if (!lists.workloads.text.empty()) line.add(R"("workloads":{{{}}})", lists.workloads.text);
  const auto devices = traced_devices(sample.usage, [this](std::string_view path) { return quoted(path); });
  if (!devices.empty()) line.add(R"("devices":[{}])", devices);
  const auto counts = traced_counts(sample.usage, [this](std::string_view path) { return quoted(path); });
  if (!counts.empty()) line.add("{}", counts);
  left_out_ = 0;
  return text + "{" + line.text + "}\n";
}

void TraceWriter::write_groups(const UsageSample& usage, Lists& lists) {
  for (std::size_t i = 0; i < usage.groups.size(); ++i) {
    const GroupUsage& now = usage.groups[i];
    const auto [entry, is_unknown] = groups_.try_emplace(std::string(now.path));
    Group& group = entry->second;
    const bool is_new = is_unknown || group.incarnation != now.incarnation;
    if (is_unknown) group.shown = quoted(now.path);
    if (is_new) {
      if (!is_unknown) lists.ended.add("{}", group.shown);
      lists.places.add("{}", i);
      // Of others than root it is enough to know that they are.
      constexpr std::uint32_t kNobody = 65534;
      if (now.parent_owner != 0)
        lists.owners.add("{}:{}", group.shown, scrambler_ ? kNobody : now.parent_owner);
      group.cpus.clear();
      group.limits = {};
    }
    if (is_new || now.usage != group.usage) lists.groups.add("{}:{}", group.shown, to_usec(now.usage));
    const std::optional<Nanoseconds> expected = is_new ? Nanoseconds{0} : group.usage;
    if (number_ > 1 && left_out_ == 0 && now.before && now.before != expected)
      lists.before.add("{}:{}", group.shown, to_usec(*now.before));
    group.incarnation = now.incarnation;
    group.usage = now.usage;
    group.seen = number_;
    write_class(usage, now, group, lists);
    if (!usage.limits.empty() && usage.limits[i] != group.limits) {
      group.limits = usage.limits[i];
      lists.limits.add("{}:{}", group.shown, limits_json(group.limits));
    }
  }
  if (groups_.size() == usage.groups.size()) return;
  std::erase_if(groups_, [&](const auto& entry) {
    const bool has_ended = entry.second.seen != number_;
    if (has_ended) lists.ended.add("{}", entry.second.shown);
    return has_ended;
  });
}

// Only a group that has run is in a class.
void TraceWriter::write_class(const UsageSample& usage, const GroupUsage& group_usage, Group& group,
                              Lists& lists) {
  if (!has_run(group_usage)) return;
  std::vector<int> cpus;
  if (group_usage.cpu_class != 0) cpus = cpus_of(usage.cpu_classes[group_usage.cpu_class], usage.cpus);
  if (cpus == group.cpus) return;
  lists.allowed.add("{}:\"{}\"", group.shown, cpu_list(cpus));
  group.cpus = std::move(cpus);
}

void TraceWriter::write_processes(const UsageSample& usage, Lists& lists) {
  for (const ProcessUsage& process : usage.processes) {
    if (!is_outside(process)) continue;
    std::optional<Nanoseconds>& expected = outside_[process.id];
    const std::optional<Nanoseconds> before = time_before(process);
    const std::string id = quote(process_id_text(process.id));
    lists.outside.add("{}:{}", id, to_usec(process.usage));
    if (number_ > 1 && left_out_ == 0 && before != expected)
      before ? lists.before.add("{}:{}", id, to_usec(*before)) : lists.before.add("{}:null", id);
    expected = process.usage;
  }
  for (const ProcessId id : usage.ended)
    if (outside_.erase(id) > 0) ended_.push_back(id);
  for (const ProcessId id : std::exchange(ended_, {}))
    lists.outside_ended.add("{}", quote(process_id_text(id)));
}

void TraceWriter::write_vms(std::span<const TracedVm> vms, Lists& lists) {
  for (const TracedVm& vm : vms) {
    std::string& known = vms_[std::string(vm.path)];
    if (known == vm.id) continue;
    known = vm.id;
    lists.workloads.add("{}:{}", quoted(vm.path),
                        quote(scrambler_ ? scrambler_->id(vm.id) : std::string(vm.id)));
  }
  if (vms_.size() <= vms.size()) return;
  std::erase_if(vms_, [&](const auto& entry) {
    return std::ranges::find(vms, std::string_view(entry.first), &TracedVm::path) == vms.end();
  });
}

void TraceWriter::add_kernel_time(const UsageSample& usage) {
  for (const ProcessUsage& process : usage.processes) {
    if (process.group != kNoGroup || !process.kernel_thread) continue;
    const auto before = time_before(process);
    if (before) kernel_ += std::max(process.usage - *before, Nanoseconds{0});
  }
}

void TraceWriter::leave_out(const Sample& sample) {
  ++left_out_;
  add_kernel_time(sample.usage);
  for (const ProcessId id : sample.usage.ended)
    if (outside_.erase(id) > 0) ended_.push_back(id);
}

}  // namespace keplerd
