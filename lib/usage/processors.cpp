// SPDX-License-Identifier: Apache-2.0
#include "usage/processors.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "base/cpu_list.h"
#include "base/parse.h"
#include "host/cpuinfo.h"
#include "host/host_root.h"

namespace keplerd {
namespace {

constexpr std::size_t kMostReadPerPackage = 8;  // frequencies: each may interrupt the CPU
constexpr std::size_t kPage = 4096;             // what a file of sysfs holds at most

std::optional<int> read_number(int sysfs, const std::string& path) {
  std::array<char, 64> buffer;
  const auto text = read_file(sysfs, path.c_str(), buffer);
  return text ? parse_number<int>(trim(*text)) : std::nullopt;
}

// The first of the CPUs that share a core with `cpu`: what names the core.
int first_sibling(int sysfs, const std::string& topology, int cpu) {
  for (const char* name : {"core_cpus_list", "thread_siblings_list"}) {  // since Linux 5.3, and before
    std::array<char, kPage> buffer;
    const auto text = read_file(sysfs, (topology + name).c_str(), buffer);
    const auto list = text ? parse_cpu_list(*text) : std::nullopt;
    if (list && !list->empty()) return list->front();
  }
  return cpu;
}

std::string cpu_path(int cpu, const char* rest) {
  return fmt::format("devices/system/cpu/cpu{}/{}", cpu, rest);
}

// AMD's dies (of Zen 4 and later, as Linux 6.9 and later numbers them) have no meters of their own.
bool meters_dies(const HostRoot& host) {
  return !is_amd(cpuinfo_field(read_cpuinfo(host), "vendor_id").value_or(""));
}

// Whether it was busy for more than a twentieth of the window; the frequency of others says little.
bool is_busy(const CpuUsage& cpu) { return cpu.busy * 20 > cpu.total; }

}  // namespace

std::string processor_model(const HostRoot& host) {
  const std::string cpuinfo = read_cpuinfo(host);
  const auto name = cpuinfo_field(cpuinfo, "model name");
  return std::string(name ? *name : cpuinfo_field(cpuinfo, "CPU part").value_or(""));
}

void set_use(const CpuTicks& before, const CpuTicks& now, CpuUsage& usage) {
  usage.busy = std::max<std::int64_t>(now.busy - before.busy, 0);
  usage.total = usage.busy + std::max<std::int64_t>(now.idle - before.idle, 0);
}

void Processors::read(std::string_view stat, std::vector<CpuUsage>& cpus) {
  parse_cpu_lines(stat, lines_);
  if (lines_.empty()) {
    std::array<char, kPage> buffer;
    const auto text = read_file(host_.sysfs(), "devices/system/cpu/online", buffer);
    const auto online = text ? parse_cpu_list(*text) : std::nullopt;
    for (const int cpu : online.value_or(std::vector<int>{})) lines_.push_back({cpu, {}});
  }
  const auto same = [](const CpuLine& line, const auto& known) { return line.number == known.first; };
  if (!std::ranges::equal(lines_, cpus_, same)) locate();

  cpus.clear();
  for (const CpuLine& line : lines_) {
    Cpu& cpu = cpus_.at(line.number);
    CpuUsage& usage = cpus.emplace_back(
        CpuUsage{.number = line.number, .package = cpu.package, .die = cpu.die, .core = cpu.core});
    usage.stat = line.fields;
    const CpuTicks ticks = add_up(line.fields);
    if (cpu.known) set_use(cpu.last, ticks, usage);
    cpu.last = ticks;
    cpu.known = true;
  }
  read_frequencies(cpus);
}

// The CPUs have changed: finds out where each is.
void Processors::locate() {
  std::map<int, Cpu> cpus;
  std::map<int, std::size_t> cores;           // by the first sibling
  std::map<int, std::pair<int, int>> die_of;  // package and die, as the kernel numbers them
  std::set<std::pair<int, int>> dies;
  std::set<int> packages;
  const bool has_dies = meters_dies(host_);
  for (const CpuLine& line : lines_) {
    const std::string topology = cpu_path(line.number, "topology/");
    const int package = read_number(host_.sysfs(), topology + "physical_package_id").value_or(0);
    const int die =  // since Linux 5.1
        has_dies ? read_number(host_.sysfs(), topology + "die_id").value_or(0) : 0;
    const int sibling = first_sibling(host_.sysfs(), topology, line.number);
    Cpu& cpu = cpus[line.number];
    cpu.package = std::max(package, 0);  // -1: the firmware does not say
    cpu.core = cores.emplace(sibling, cores.size()).first->second;
    const std::pair<int, int> place{cpu.package, std::max(die, 0)};
    die_of[line.number] = place;
    dies.insert(place);
    packages.insert(cpu.package);
    const auto known = cpus_.find(line.number);
    if (known != cpus_.end())
      std::tie(cpu.last, cpu.known) = std::tie(known->second.last, known->second.known);
  }
  const bool has_one_each = dies.size() == packages.size();
  for (auto& [number, cpu] : cpus)
    cpu.die =
        has_one_each ? cpu.package : static_cast<int>(std::distance(dies.begin(), dies.find(die_of[number])));
  cpus_ = std::move(cpus);
}

// Of a few busy CPUs of each package, in turn.
void Processors::read_frequencies(std::vector<CpuUsage>& cpus) {
  std::map<int, std::size_t> read;  // of a package
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    CpuUsage& usage = cpus[(next_ + i) % cpus.size()];
    Cpu& cpu = cpus_.at(usage.number);
    if (!cpu.has_frequency || !is_busy(usage)) continue;
    if (read[usage.package]++ >= kMostReadPerPackage) continue;
    if (!cpu.frequency) {
      auto file =
          KeptFile::open(host_.sysfs(), cpu_path(usage.number, "cpufreq/scaling_cur_freq"), &descriptors_);
      cpu.has_frequency = file.ok();
      if (!file) continue;
      cpu.frequency = *std::move(file);
    }
    std::array<char, 64> buffer;
    const auto text = cpu.frequency.read(buffer);
    if (!text && text.error().code == ENOENT) cpu.has_frequency = false;
    const auto khz = text ? parse_number<std::int64_t>(trim(*text)) : std::nullopt;
    constexpr std::int64_t kMostKhz = 100'000'000;
    if (khz && *khz > 0 && *khz < kMostKhz) usage.khz = *khz;
  }
  if (!cpus.empty()) next_ = (next_ + kMostReadPerPackage) % cpus.size();
}

}  // namespace keplerd
