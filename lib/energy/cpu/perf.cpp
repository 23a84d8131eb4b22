// SPDX-License-Identifier: Apache-2.0
#include "energy/cpu/perf.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "base/cpu_list.h"
#include "base/parse.h"
#include "base/text.h"
#include "energy/cpu/perf_events.h"
#include "energy/cpu/processor.h"
#include "host/host_root.h"

namespace keplerd {
namespace {

constexpr const char* kPmu = "bus/event_source/devices/power";
constexpr std::size_t kLongestText = 4096;  // a page: what a file of sysfs holds at most

Result<std::string> text_of(int sysfs, const std::string& path) {
  std::array<char, kLongestText> buffer{};
  const auto text = read_file(sysfs, path.c_str(), buffer);
  if (!text) return text.error();
  return std::string(trim(*text));
}

template <class Number>
Result<Number> number_of(int sysfs, const std::string& path) {
  const auto text = text_of(sysfs, path);
  if (!text) return text.error();
  const auto number = parse_number<Number>(*text);
  if (!number) return Error{.message = fmt::format("{}: \"{}\" is not a number", path, escape_name(*text))};
  return *number;
}

struct CpuAt {
  int cpu = 0;
  CpuPlace place;
};

// The CPUs of the PMU, one per die, ordered by place; of AMD, one per package: its counters are those of
// packages, but Linux 6.9 and 6.10 name a CPU of each die. A CPU without topology information is skipped.
std::vector<CpuAt> cpus_of_mask(int sysfs, std::string_view mask, bool amd) {
  std::vector<CpuAt> cpus;
  const auto list = parse_cpu_list(mask);
  if (!list) return cpus;
  for (const int cpu : *list) {
    const auto topology = fmt::format("devices/system/cpu/cpu{}/topology/", cpu);
    const auto package = number_of<int>(sysfs, topology + "physical_package_id");
    if (!package || *package < 0) continue;
    const auto die = number_of<int>(sysfs, topology + "die_id");  // since Linux 5.1 only
    cpus.push_back({cpu, {*package, die && !amd ? *die : 0}});
  }
  std::ranges::stable_sort(cpus, {}, &CpuAt::place);
  // (Not std::ranges::unique: clang 14 cannot use GCC's.)
  const auto twins = [](const CpuAt& a, const CpuAt& b) { return a.place == b.place; };
  cpus.erase(std::unique(cpus.begin(), cpus.end(), twins), cpus.end());
  return cpus;
}

// An event of the PMU, as its files describe it.
struct FoundEvent {
  const EnergyEvent* meaning = nullptr;
  std::uint64_t config = 0;
  CountScale scale;
};

Result<std::vector<FoundEvent>> find_events(int sysfs, bool amd) {
  const auto directory = std::string(kPmu) + "/events";
  const auto names = list_directory(sysfs, directory.c_str());
  if (!names && names.error().code != ENOENT) return names.error();
  std::vector<FoundEvent> events;
  for (const auto& name : names ? *names : std::vector<std::string>{}) {
    const auto* const meaning = find_energy_event(name, amd);
    if (meaning == nullptr) continue;
    const auto path = fmt::format("{}/{}", directory, name);
    const auto text = text_of(sysfs, path);
    const auto scale = text_of(sysfs, path + ".scale");
    const auto unit = text_of(sysfs, path + ".unit");
    if (!text || !scale || !unit) continue;
    const auto config = parse_event_config(*text);
    const auto exact = parse_count_scale(*scale, *unit);
    if (config && exact) events.push_back({meaning, *config, *exact});
  }
  // In table order: zones in the total first.
  std::ranges::sort(events, {}, &FoundEvent::meaning);
  return events;
}

// One zone's counter.
class ZoneCounter {
 public:
  ZoneCounter(PerfEvent event, CpuPlace place, CountScale scale)
      : event_(event), place_(place), scale_(scale) {}

  Result<Done> start(const OpenPerfCounter& open_counter) {
    auto counter = open_counter(event_);
    if (!counter) return counter.error();
    counter_ = *std::move(counter);
    last_ = {};
    return Done{};
  }

  // The PMU's CPUs have changed: moves the event to the CPU that now counts its package.
  void move(const std::vector<CpuAt>& cpus) {
    const auto at = std::ranges::find(cpus, place_, &CpuAt::place);
    online_ = at != cpus.end();
    if (online_ && at->cpu == event_.cpu) return;
    counter_.reset();
    if (online_) event_.cpu = at->cpu;
  }

  Result<Microjoules> read(const OpenPerfCounter& open_counter) {
    if (!online_) return Error{.message = "no CPU of the package is online", .code = ENODEV};
    if (!counter_) {
      const auto opened = start(open_counter);
      if (!opened) return opened.error();
    }
    const auto reading = counter_->read();
    if (!reading) {
      counter_.reset();
      return reading.error();
    }
    const bool counting = reading->running > last_.running || reading->enabled == last_.enabled;
    last_ = *reading;
    if (!counting) return Error{.message = "the event is not being counted"};
    return scale_count(reading->count, scale_);
  }

 private:
  PerfEvent event_;
  CpuPlace place_;
  CountScale scale_;
  std::unique_ptr<PerfCounter> counter_;
  PerfReading last_;
  bool online_ = true;
};

class PerfSource final : public EnergySource {
 public:
  PerfSource(UniqueFd sysfs, OpenPerfCounter open_counter, std::string mask, bool amd)
      : sysfs_(std::move(sysfs)),
        open_counter_(std::move(open_counter)),
        first_mask_(mask),
        mask_(std::move(mask)),
        amd_(amd) {}

  Result<Done> add(Zone zone, ZoneCounter counter) {
    const auto opened = counter.start(open_counter_);
    if (!opened)
      return Error{.message = zone.id + ": " + opened.error().message, .code = opened.error().code};
    zones_.push_back(std::move(zone));
    counters_.push_back(std::move(counter));
    return Done{};
  }

  std::string_view name() const override { return "perf"; }
  const std::vector<Zone>& zones() const override { return zones_; }

  void read(Nanoseconds, ZoneReadings& readings) override {
    follow_mask();
    readings.clear();
    for (std::size_t i = 0; i < zones_.size(); ++i) {
      auto energy = counters_[i].read(open_counter_);
      if (!energy) energy = Error{.message = "perf: " + energy.error().message, .code = energy.error().code};
      readings.push_back(std::move(energy));
    }
  }

  bool outdated() const override { return mask_ != first_mask_; }

 private:
  // An event on a CPU that went offline would silently stop counting.
  void follow_mask() {
    auto mask = text_of(sysfs_.get(), std::string(kPmu) + "/cpumask");
    if (!mask || *mask == mask_) return;
    mask_ = *std::move(mask);
    const auto cpus = cpus_of_mask(sysfs_.get(), mask_, amd_);
    for (auto& counter : counters_) counter.move(cpus);
  }

  UniqueFd sysfs_;  // own descriptor: the source outlives the HostRoot
  OpenPerfCounter open_counter_;
  std::string first_mask_, mask_;  // the PMU's CPUs, when it was opened and now
  bool amd_;
  std::vector<Zone> zones_;
  std::vector<ZoneCounter> counters_;  // of zones_
};

Error in_sysfs(const HostRoot& host, const Error& error) {
  return {.message = fmt::format("{}/{}", host.paths().sysfs, error.message), .code = error.code};
}

Error absent(const HostRoot& host, std::string_view why) {
  return {.message = fmt::format("{}/{}: {}", host.paths().sysfs, kPmu, why), .code = ENOENT};
}

Zone make_zone(const EnergyEvent& event, int index, const Processor& processor) {
  const std::string name(event.zone);
  Zone zone{.id = zone_id("perf", name, index),
            .name = name,
            .index = index,
            .in_total = event.in_total,
            .begins_anew = true,
            .resource = rapl_resource(name)};
  set_quality(zone, processor);
  return zone;
}

// Debian and Ubuntu have added a level to this setting, 3, and set it by default: it refuses callers without
// CAP_SYS_ADMIN, even with CAP_PERFMON. (Their patch "security, perf: Allow further restriction of
// perf_event_open".)
bool is_reserved_for_root(const HostRoot& host) {
  constexpr int kHighestOfMainline = 2;
  const auto level = number_of<int>(host.procfs(), "sys/kernel/perf_event_paranoid");
  return level && *level > kHighestOfMainline;
}

// The kernel refuses with EACCES; the unit's system call filter, which is first, with EPERM.
std::string permission_fix(const HostRoot& host, int code) {
  constexpr std::string_view kDropIn =
      "mkdir -p /etc/systemd/system/keplerd.service.d; ln -s /usr/share/keplerd/drop-ins/perf.conf "
      "/etc/systemd/system/keplerd.service.d/; systemctl daemon-reload; systemctl restart keplerd";
  constexpr std::string_view kSetting =
      "echo kernel.perf_event_paranoid=2 >/etc/sysctl.d/50-keplerd-perf.conf; sysctl -p "
      "/etc/sysctl.d/50-keplerd-perf.conf";
  if (!is_reserved_for_root(host)) return std::string(kDropIn);
  if (code == EACCES) return std::string(kSetting);
  return fmt::format("{}; {}", kSetting, kDropIn);
}

// The PMU's zones, each with its counter, not opened yet.
struct FoundZone {
  Zone zone;
  ZoneCounter counter;
};

Result<std::vector<FoundZone>> find_zones(const HostRoot& host, std::string_view mask) {
  const int sysfs = host.sysfs();
  const auto type = number_of<std::uint32_t>(sysfs, std::string(kPmu) + "/type");
  if (!type) return in_sysfs(host, type.error());
  const Processor processor = read_processor(host);
  const auto events = find_events(sysfs, processor.amd);
  if (!events) return in_sysfs(host, events.error());
  if (events->empty()) return absent(host, "has no energy events");
  const auto cpus = cpus_of_mask(sysfs, mask, processor.amd);
  if (cpus.empty()) return absent(host, "lists no CPU to count on");

  std::vector<CpuPlace> places;
  places.reserve(cpus.size());
  for (const auto& cpu : cpus) places.push_back(cpu.place);
  const auto indices = zone_indices(places);
  std::vector<FoundZone> zones;
  for (const auto& event : *events) {
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      zones.push_back({make_zone(*event.meaning, indices[i], processor),
                       ZoneCounter({*type, event.config, cpus[i].cpu}, cpus[i].place, event.scale)});
    }
  }
  return zones;
}

}  // namespace

Result<std::unique_ptr<EnergySource>> open_perf(const HostRoot& host, const std::vector<std::string>& names,
                                                OpenPerfCounter open) {
  const auto mask = text_of(host.sysfs(), std::string(kPmu) + "/cpumask");
  if (!mask) return in_sysfs(host, mask.error());
  auto found = find_zones(host, *mask);
  if (!found) return found.error();
  std::vector<Zone> zones;
  for (const auto& one : *found) zones.push_back(one.zone);
  const auto choice = check_choice(zones, names);
  if (!choice) return choice.error();
  if (!open && !is_kernel_file_system(host.sysfs())) return absent(host, "is not of this kernel");
  if (!open) open = open_perf_counter;

  auto sysfs = open_directory(host.sysfs(), ".");
  if (!sysfs) return in_sysfs(host, sysfs.error());
  auto source =
      std::make_unique<PerfSource>(*std::move(sysfs), std::move(open), *mask, read_processor(host).amd);
  for (auto& one : *found) {
    if (!is_chosen(one.zone, names)) continue;
    const auto added = source->add(std::move(one.zone), std::move(one.counter));
    if (!added) return added.error();
  }
  return std::unique_ptr<EnergySource>(std::move(source));
}

std::vector<LeftOut> perf_left_out(const HostRoot& host) {
  const auto events = list_directory(host.sysfs(), "bus/event_source/devices/power_core/events");
  if (!events || events->empty()) return {};
  return {{"perf power_core", "counts single cores, which are included in the counters of the packages"}};
}

std::string perf_fix(const HostRoot& host, const Error& error) {
  if (error.code == EACCES || error.code == EPERM) return permission_fix(host, error.code);
  const Processor processor = read_processor(host);
  if (error.code != ENOENT || processor.virtual_machine || !processor.x86) return {};
  if (list_directory(host.sysfs(), kPmu)) return {};  // the driver is loaded, but found no counter
  return "modprobe rapl";
}

}  // namespace keplerd
