// SPDX-License-Identifier: Apache-2.0
#include "energy/powercap.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "base/parse.h"
#include "energy/power_integral.h"
#include "energy/powercap_zones.h"
#include "energy/processor.h"
#include "energy/scmi_zones.h"
#include "host/host_root.h"

namespace keplerd {
namespace {

constexpr const char* kClass = "class/powercap";
constexpr int kMostConstraints = 10;  // MAX_CONSTRAINTS_PER_ZONE of the kernel's powercap_sys.c
constexpr std::size_t kLongestText = 128;

std::string path_of(std::string_view directory, std::string_view file) {
  return fmt::format("{}/{}/{}", kClass, directory, file);
}

// Empty where it cannot be read.
std::string text_of(int sysfs, std::string_view directory, std::string_view file) {
  std::array<char, kLongestText> buffer{};
  const auto text = read_file(sysfs, path_of(directory, file).c_str(), buffer);
  return text ? std::string(trim(*text)) : std::string{};
}

bool is_zone(std::string_view directory) { return is_rapl_zone(directory) || is_scmi_zone(directory); }

std::vector<std::string> zone_directories(int sysfs) {
  auto names = list_directory(sysfs, kClass);
  if (!names) return {};
  std::erase_if(*names, [](const std::string& name) { return !is_zone(name); });
  std::sort(names->begin(), names->end());
  return *std::move(names);
}

PowercapDirectory read_directory(int sysfs, std::string name) {
  PowercapDirectory directory;
  directory.name = std::move(name);
  directory.zone = text_of(sysfs, directory.name, "name");
  directory.range = text_of(sysfs, directory.name, "max_energy_range_uj");
  for (int i = 0; i < kMostConstraints; ++i) {
    for (const std::string_view kind : {"power_limit", "max_power"}) {
      directory.limits.push_back(text_of(sysfs, directory.name, fmt::format("constraint_{}_{}_uw", i, kind)));
    }
  }
  return directory;
}

// The names of a zone and the zones around it, innermost first: what the zone is, whatever its directory is
// called.
std::vector<std::string> lineage(int sysfs, std::string_view directory) {
  std::vector<std::string> names;
  for (; is_zone(directory); directory = powercap_parent(directory)) {
    names.push_back(text_of(sysfs, directory, "name"));
  }
  return names;
}

bool is_gone(int code) { return code == ENODEV || code == ENOENT || code == ENXIO; }
bool is_forbidden(int code) { return code == EACCES || code == EPERM; }

// The counter of one zone, which may vanish (the driver is unloaded, a processor taken offline) and come
// back.
class Counter {
 public:
  Counter(int sysfs, const PowercapZone& zone)
      : sysfs_(sysfs), zone_(zone), lineage_(lineage(sysfs, zone_.directory)) {}

  // Fails also where the directory has become another zone's.
  Result<Done> open_file() {
    const auto path = file_path();
    if (lineage(sysfs_, zone_.directory) != lineage_) return system_error(path, ENODEV);
    auto file = KeptFile::open(sysfs_, path);
    if (!file) return file.error();
    file_ = *std::move(file);
    return Done{};
  }

  Result<Microjoules> read(Nanoseconds now) {
    if (file_) {
      auto energy = read_open_file(now);
      if (energy || !is_gone(energy.error().code)) return energy;
      file_ = {};
    }
    const auto opened = open_file();
    if (!opened) return opened.error();
    return read_open_file(now);
  }

 private:
  std::string file_path() const {
    return path_of(zone_.directory, zone_.tells_power ? "power_uw" : "energy_uj");
  }

  Result<Microjoules> read_open_file(Nanoseconds now) {
    std::array<char, kLongestText> buffer{};
    const auto text = file_.read(buffer);
    if (!text) return text.error();
    auto energy = parse_energy_counter(*text);
    if (!energy) return Error{.message = file_path() + ": " + energy.error().message};
    return zone_.tells_power ? integral_.advance(now, {energy->value}) : *energy;
  }

  int sysfs_;
  PowercapZone zone_;
  std::vector<std::string> lineage_;
  KeptFile file_;
  PowerIntegral integral_;
};

// Errors below are relative to sysfs.
Error in_sysfs(const HostPaths& paths, const Error& error) {
  return {.message = fmt::format("{}/{}", paths.sysfs, error.message), .code = error.code};
}

class PowercapSource final : public EnergySource {
 public:
  PowercapSource(HostPaths paths, UniqueFd sysfs)
      : paths_(std::move(paths)), sysfs_(std::move(sysfs)), directories_(zone_directories(sysfs_.get())) {}

  // Fails where the counter may not be read, ever.
  Result<Done> add(const PowercapZone& zone) {
    Counter counter(sysfs_.get(), zone);
    const auto opened = counter.open_file();
    if (!opened && is_forbidden(opened.error().code)) return in_sysfs(paths_, opened.error());
    zones_.push_back(zone.zone);
    counters_.push_back(std::move(counter));
    return Done{};
  }

  std::string_view name() const override { return "powercap"; }
  const std::vector<Zone>& zones() const override { return zones_; }

  void read(Nanoseconds now, ZoneReadings& readings) override {
    readings.clear();
    for (auto& counter : counters_) {
      auto energy = counter.read(now);
      if (!energy) energy = in_sysfs(paths_, energy.error());
      readings.push_back(std::move(energy));
    }
  }

  bool outdated() const override { return zone_directories(sysfs_.get()) != directories_; }

 private:
  HostPaths paths_;
  UniqueFd sysfs_;                        // own, so that the source outlives the HostRoot
  std::vector<std::string> directories_;  // when it was opened
  std::vector<Zone> zones_;
  std::vector<Counter> counters_;  // of zones_
};

Result<std::vector<PowercapZone>> discover(const HostRoot& host) {
  const auto names = list_directory(host.sysfs(), kClass);
  if (!names) return in_sysfs(host.paths(), names.error());
  std::vector<PowercapDirectory> directories;
  for (const auto& name : *names) {
    if (is_zone(name)) directories.push_back(read_directory(host.sysfs(), name));
  }
  auto zones = powercap_zones(directories, read_processor(host).amd);
  if (zones.empty()) zones = scmi_zones(directories);
  if (zones.empty()) {
    return Error{.message = fmt::format("{}/{}: no RAPL zones", host.paths().sysfs, kClass), .code = ENOENT};
  }
  return zones;
}

}  // namespace

Result<std::unique_ptr<EnergySource>> open_powercap(const HostRoot& host,
                                                    const std::vector<std::string>& names) {
  const auto found = discover(host);
  if (!found) return found.error();
  std::vector<Zone> zones;
  for (const auto& zone : *found) zones.push_back(zone.zone);
  const auto choice = check_choice(zones, names);
  if (!choice) return choice.error();

  auto sysfs = open_directory(host.sysfs(), ".");
  if (!sysfs) return in_sysfs(host.paths(), sysfs.error());
  auto source = std::make_unique<PowercapSource>(host.paths(), *std::move(sysfs));
  for (const auto& zone : *found) {
    if (!is_chosen(zone.zone, names)) continue;
    const auto added = source->add(zone);
    if (!added) return added.error();
  }
  return std::unique_ptr<EnergySource>(std::move(source));
}

std::string powercap_fix(const HostRoot& host, const Error& error) {
  if (is_forbidden(error.code)) return "Run keplerd as root or with CAP_DAC_READ_SEARCH, as its unit does.";
  if (error.code != ENOENT) return {};
  if (read_processor(host).virtual_machine) {
    return "This is a virtual machine, which has no energy counters of its own: measure on its host.";
  }
  return "Load the driver of the energy counters: modprobe intel_rapl_msr (it serves AMD too).";
}

}  // namespace keplerd
