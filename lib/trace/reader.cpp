// SPDX-License-Identifier: Apache-2.0
#include "trace/reader.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "attribution/attributor.h"
#include "base/pci_address.h"
#include "base/text.h"
#include "trace/traced_counts.h"
#include "trace/traced_devices.h"
#include "trace/writer.h"
#include "usage/processors.h"

namespace keplerd {
namespace {

using Kind = TraceValue::Kind;

constexpr std::size_t kMostZones = 256, kMostCpus = 8192, kMostProcesses = 100'000, kLongestText = 256;
constexpr std::int64_t kMostTime = std::int64_t{1} << 50;      // us: 35 years
constexpr std::int64_t kLongestPause = std::int64_t{1} << 40;  // us: 12 days
constexpr std::int64_t kMostEnergy = std::int64_t{1} << 60;    // uJ: 36 years at 1 kW
constexpr std::int64_t kMostTicks = std::int64_t{1} << 45;     // sums over all CPUs fit
constexpr std::int64_t kMostKhz = 100'000'000;
constexpr std::int64_t kMostRunTime = std::int64_t{1} << 52;  // us of CPU, in the whole trace

constexpr ProcessId kKernel{2, 0};  // kthreadd, for all kernel threads

// An integer of an object, from 0 to `most`.
std::optional<std::int64_t> number(const TraceValue& object, std::string_view key, std::int64_t most) {
  const TraceValue* const value = object.find(key);
  if (value == nullptr || !value->is(Kind::kInteger) || value->integer < 0 || value->integer > most)
    return std::nullopt;
  return value->integer;
}

std::optional<std::string> text(const TraceValue& object, std::string_view key) {
  const TraceValue* const value = object.find(key);
  if (value == nullptr || !value->is(Kind::kText)) return std::nullopt;
  const bool usable =
      !value->text.empty() && value->text.size() <= kLongestText && is_plain_name(value->text);
  return usable ? std::optional(value->text) : std::nullopt;
}

const TraceValue* list(const TraceValue& object, std::string_view key) {
  const TraceValue* const value = object.find(key);
  return value != nullptr && value->is(Kind::kList) ? value : nullptr;
}

bool is_true(const TraceValue& object, std::string_view key) {
  const TraceValue* const value = object.find(key);
  return value != nullptr && value->is(Kind::kBoolean) && value->integer != 0;
}

Error bad(std::string_view key) {
  return Error{"'" + std::string(key) + "' is missing, malformed or out of range"};
}

Result<Zone> parse_zone(const TraceValue& value) {
  if (!value.is(Kind::kObject)) return bad("zones");
  const auto id = text(value, "id");
  const auto name = text(value, "name");
  const auto index = number(value, "index", 65'535);
  const auto quality = parse_quality(text(value, "quality").value_or("measured"));
  const auto range = number(value, "rangeMicrojoules", kMostEnergy);
  if (!id || !name || !index || !quality || !range) return bad("zones");
  Zone zone;
  zone.id = *id;
  zone.name = *name;
  zone.index = static_cast<int>(*index);
  zone.quality = *quality;
  zone.in_total = is_true(value, "inTotal");
  zone.range = {*range};
  zone.largest_limit = {number(value, "maxMicrowatts", kMostEnergy).value_or(0)};
  const auto resource = text(value, "resource");  // traces of others may have none
  if (const auto device = text(value, "device")) zone.device = pci_address(*device).value_or("");
  zone.resource = resource ? parse_resource(*resource).value_or(Resource::kNone) : rapl_resource(*name);
  return zone;
}

std::optional<CpuFields> parse_fields(const TraceValue& value) {
  CpuFields fields{};
  if (!value.is(Kind::kList) || value.items.size() != fields.size()) return std::nullopt;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const TraceValue& field = value.items[i];
    if (!field.is(Kind::kInteger) || field.integer < 0 || field.integer > kMostTicks) return std::nullopt;
    fields[i] = field.integer;
  }
  return fields;
}

}  // namespace

Result<TraceReader::Line> TraceReader::take(std::string_view line) {
  const auto value = parse_trace_value(line);
  if (!value) return value.error();
  if (!value->is(Kind::kObject)) return Error{"not an object"};
  if (value->find("trace") != nullptr) {
    if (const auto taken = take_header(*value); !taken) return taken.error();
    return Line::kHeader;
  }
  if (!has_header_) return Error{"not a trace: it does not begin with a header"};
  if (const auto taken = take_sample(*value); !taken) return taken.error();
  return Line::kSample;
}

void follow_zones(const TraceReader& trace, Attributor& attributor) {
  if (trace.begins()) {
    attributor.begin();
    attributor.set_zones(trace.zones());
  } else if (trace.zones_changed()) {
    attributor.change_zones(trace.zones());
  }
}

Result<Done> TraceReader::take_header(const TraceValue& header) {
  if (text(header, "trace") != kTraceFormat)
    return Error{"unknown kind of trace (expected " + std::string(kTraceFormat) + ")"};
  if (number(header, "ticksPerSecond", 1'000'000).value_or(100) != 100)
    return Error{"'ticksPerSecond' is not 100"};
  const TraceValue* const cpus = list(header, "cpus");
  const TraceValue* const zones = list(header, "zones");
  if (cpus == nullptr || cpus->items.size() > kMostCpus) return bad("cpus");
  if (zones == nullptr || zones->items.size() > kMostZones) return bad("zones");

  std::map<int, CpuTicks> last;
  for (const Cpu& cpu : cpus_)
    if (cpu.last) last[cpu.place.number] = *cpu.last;
  cpus_.clear();
  for (const TraceValue& value : cpus->items) {
    if (!value.is(Kind::kObject)) return bad("cpus");
    const auto cpu = number(value, "cpu", 65'535);
    const auto package = number(value, "package", 65'535);
    const auto core = number(value, "core", 65'535);
    const bool ascends = cpus_.empty() || (cpu && *cpu > cpus_.back().place.number);
    if (!cpu || !package || !core || !ascends) return bad("cpus");
    const auto die = number(value, "die", 65'535).value_or(*package);
    const CpuUsage place{.number = static_cast<int>(*cpu),
                         .package = static_cast<int>(*package),
                         .die = static_cast<int>(die),
                         .core = static_cast<std::size_t>(*core)};
    const auto known = last.find(place.number);
    cpus_.push_back({place, known == last.end() ? std::nullopt : std::optional(known->second)});
  }
  std::set<std::string> ids;
  zones_.clear();
  for (const TraceValue& value : zones->items) {
    auto zone = parse_zone(value);
    if (!zone) return zone.error();
    if (!ids.insert(zone->id).second) return bad("zones");
    zones_.push_back(*std::move(zone));
  }
  new_zones_ = true;
  sample_.usage.host.memory = number(header, "memoryTotal", std::int64_t{1} << 62).value_or(0);
  sample_.usage.interrupts_apart = is_true(header, "irqApart");
  section_begins_ = section_begins_ || !has_header_ || is_true(header, "begins");
  has_header_ = true;
  return Done{};
}

Result<Done> TraceReader::take_sample(const TraceValue& sample) {
  begins_ = std::exchange(section_begins_, false);
  zones_changed_ = std::exchange(new_zones_, false);
  if (begins_) {
    groups_.clear();
    outside_.clear();
    kernel_.reset();
    for (Cpu& cpu : cpus_) cpu.last.reset();
  }
  left_out_ = number(sample, "leftOut", kMostTime).value_or(0);
  if (const auto taken = take_time(sample); !taken) return taken;
  if (const auto taken = take_counters(sample); !taken) return taken;
  if (const auto taken = take_cpus(sample); !taken) return taken;
  if (const auto taken = groups_.apply(sample, begins_); !taken) return taken;
  groups_.fill(sample_.usage);
  if (const auto taken = take_processes(sample); !taken) return taken;
  if (const auto taken = take_devices(sample, sample_.usage); !taken) return taken;
  if (const auto taken = take_counts(sample, sample_.usage); !taken) return taken;
  return bound_time();
}

Result<Done> TraceReader::take_time(const TraceValue& sample) {
  const auto monotonic = number(sample, "monotonicUsec", kMostTime);
  if (!monotonic) return bad("monotonicUsec");
  const auto boottime = number(sample, "boottimeUsec", kMostTime);
  if (!boottime) return bad("boottimeUsec");
  const auto realtime = number(sample, "realtimeUsec", std::int64_t{1} << 55);
  if (!realtime) return bad("realtimeUsec");
  if (!begins_) {
    const std::int64_t window = *monotonic - to_usec(sample_.at.monotonic);
    if (window <= 0) return Error{"'monotonicUsec' does not advance"};
    if (window > kLongestPause) return Error{"more than 12 days after the sample before"};
  }
  sample_.at = {std::chrono::microseconds(*monotonic), std::chrono::microseconds(*boottime),
                std::chrono::microseconds(*realtime)};
  return Done{};
}

Result<Done> TraceReader::take_counters(const TraceValue& sample) {
  const TraceValue* const counters = list(sample, "counters");
  if (counters == nullptr || counters->items.size() != zones_.size())
    return Error{"'counters' is not a list with one item for each zone"};
  sample_.readings.clear();
  for (const TraceValue& counter : counters->items) {
    if (counter.is(Kind::kNull)) {
      sample_.readings.emplace_back(Error{"not read"});
    } else if (counter.is(Kind::kInteger) && counter.integer >= 0 && counter.integer <= kMostEnergy) {
      sample_.readings.emplace_back(Microjoules{counter.integer});
    } else {
      return bad("counters");
    }
  }
  return Done{};
}

Result<Done> TraceReader::take_cpus(const TraceValue& sample) {
  const TraceValue* const stat = list(sample, "stat");
  const TraceValue* const khz = list(sample, "khz");
  if (stat == nullptr || stat->items.size() != cpus_.size()) return bad("stat");
  if (khz != nullptr && khz->items.size() != cpus_.size()) return bad("khz");
  UsageSample& usage = sample_.usage;
  usage.cpus.clear();
  usage.stat = {};
  for (std::size_t c = 0; c < cpus_.size(); ++c) {
    Cpu& cpu = cpus_[c];
    if (stat->items[c].is(Kind::kNull)) {  // offline
      cpu.last.reset();
      continue;
    }
    const auto fields = parse_fields(stat->items[c]);
    if (!fields) return bad("stat");
    CpuUsage& use = usage.cpus.emplace_back(cpu.place);
    use.stat = *fields;
    const CpuTicks ticks = add_up(*fields);
    if (cpu.last) set_use(*cpu.last, ticks, use);
    cpu.last = ticks;
    for (std::size_t i = 0; i < fields->size(); ++i) usage.stat[i] += (*fields)[i];
    if (khz == nullptr || khz->items[c].is(Kind::kNull)) continue;
    use.khz = khz->items[c].integer;
    if (!khz->items[c].is(Kind::kInteger) || use.khz <= 0 || use.khz >= kMostKhz) return bad("khz");
  }
  if (const TraceValue* const host = sample.find("hostStat")) {
    const auto fields = parse_fields(*host);
    if (!fields) return bad("hostStat");
    usage.stat = *fields;
  }
  usage.ticks = add_up(usage.stat);
  usage.host.cpus = static_cast<int>(usage.cpus.size());
  return Done{};
}

Result<Done> TraceReader::take_processes(const TraceValue& sample) {
  UsageSample& usage = sample_.usage;
  usage.processes.clear();
  usage.ended.clear();
  if (const TraceValue* const ended = list(sample, "outsideEnded")) {
    for (const TraceValue& id : ended->items) {
      const auto process = id.is(Kind::kText) ? parse_process_id(id.text) : std::nullopt;
      if (process) usage.ended.push_back(*process);
    }
  }
  if (const TraceValue* const kernel = sample.find("kernelUsec")) {
    const auto time = traced_time(*kernel);
    if (!time) return bad("kernelUsec");
    if (kernel_) add_process(kKernel, *time, kernel_, true);
    kernel_ = *time;
  }
  if (const TraceValue* const outside = sample.find("outside")) {
    if (!outside->is(Kind::kObject)) return bad("outside");
    Times before;
    if (const TraceValue* const times = sample.find("before"); times != nullptr && times->is(Kind::kObject))
      for (std::size_t i = 0; i < times->items.size(); ++i) before[times->keys[i]] = &times->items[i];
    for (std::size_t i = 0; i < outside->items.size(); ++i)
      if (const auto taken = take_process(outside->keys[i], outside->items[i], before); !taken) return taken;
  }
  for (const ProcessId id : usage.ended) outside_.erase(id);
  if (outside_.size() > kMostProcesses) return Error{"too many processes"};
  return Done{};
}

Result<Done> TraceReader::take_process(const std::string& name, const TraceValue& time, const Times& before) {
  const auto id = parse_process_id(name);
  const auto usage = traced_time(time);
  if (!id || id->pid <= 0 || *id == kKernel || !usage) return bad("outside");
  const auto [known, is_new] = outside_.try_emplace(*id, *usage);
  std::optional<Nanoseconds> earlier = is_new ? std::nullopt : std::optional(known->second);
  if (const auto other = before.find(name); other != before.end()) {
    earlier = traced_time(*other->second);
    if (!earlier && !other->second->is(Kind::kNull)) return bad("before");
  }
  known->second = *usage;
  add_process(*id, *usage, begins_ ? std::nullopt : earlier, false);
  return Done{};
}

void TraceReader::add_process(ProcessId id, Nanoseconds usage, std::optional<Nanoseconds> before,
                              bool is_kernel) {
  ProcessUsage& process = sample_.usage.processes.emplace_back();
  process.id = id;
  process.comm = is_kernel ? "kthreadd" : "outside";
  process.kernel_thread = is_kernel;
  process.usage = usage;
  if (before) process.before = ProcessUsage::Before{.group = 0, .usage = *before};
}

Result<Done> TraceReader::bound_time() {
  std::int64_t time = groups_.time();
  for (const ProcessUsage& process : sample_.usage.processes) {
    if (process.before) time += std::max<std::int64_t>(0, to_usec(process.usage - process.before->usage));
    if (time > kMostTracedTime) return Error{"more CPU time than any host has"};
  }
  time_ += time;
  if (time_ > kMostRunTime) return Error{"more CPU time than any host has"};
  return Done{};
}

}  // namespace keplerd
