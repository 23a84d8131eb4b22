// SPDX-License-Identifier: Apache-2.0
#include "energy/cpu/powercap.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "base/parse.h"
#include "energy/cpu/powercap_zones.h"
#include "energy/cpu/processor.h"
#include "energy/cpu/scmi_zones.h"
#include "energy/power_integral.h"
#include "host/host_root.h"

namespace keplerd {
namespace {

constexpr const char* kClass = "class/powercap";
constexpr int kMostConstraints = 10;  // MAX_CONSTRAINTS_PER_ZONE of the kernel's powercap_sys.c
constexpr std::size_t kLongestText = 128;
constexpr std::size_t kMostZones = 1024;  // no real host has more

std::string path_of(const PowercapTree& tree, std::string_view directory, std::string_view file) {
  return fmt::format("{}/{}/{}", tree.path, directory, file);
}

// Empty if it cannot be read.
std::string text_of(const PowercapTree& tree, std::string_view directory, std::string_view file) {
  std::array<char, kLongestText> buffer{};
  const auto text = read_file(tree.root.get(), path_of(tree, directory, file).c_str(), buffer);
  return text ? std::string(trim(*text)) : std::string{};
}

bool is_zone(std::string_view directory) { return is_rapl_zone(directory) || is_scmi_zone(directory); }

Result<std::vector<std::string>> zone_directories(const PowercapTree& tree) {
  auto names = list_directory(tree.root.get(), tree.path.c_str());
  if (!names) return names.error();
  std::erase_if(*names, [](const std::string& name) { return !is_zone(name); });
  std::sort(names->begin(), names->end());
  if (names->size() > kMostZones) names->resize(kMostZones);
  return *std::move(names);
}

PowercapDirectory read_directory(const PowercapTree& tree, std::string name) {
  PowercapDirectory directory;
  directory.name = std::move(name);
  directory.zone = text_of(tree, directory.name, "name");
  directory.range = text_of(tree, directory.name, "max_energy_range_uj");
  for (int i = 0; i < kMostConstraints; ++i) {
    for (const std::string_view kind : {"power_limit", "max_power"}) {
      directory.limits.push_back(text_of(tree, directory.name, fmt::format("constraint_{}_{}_uw", i, kind)));
    }
  }
  return directory;
}

// The names of a zone and of its ancestors, innermost first: they identify the zone, whatever its directory
// is called.
std::vector<std::string> lineage(const PowercapTree& tree, std::string_view directory) {
  std::vector<std::string> names;
  for (; is_zone(directory); directory = powercap_parent(directory)) {
    names.push_back(text_of(tree, directory, "name"));
  }
  return names;
}

bool is_gone(int code) { return code == ENODEV || code == ENOENT || code == ENXIO; }
bool is_forbidden(int code) { return code == EACCES || code == EPERM; }

// The counter of one zone, which may vanish (the driver is unloaded, a processor taken offline) and come
// back.
class Counter {
 public:
  // `tree` must outlive it.
  Counter(const PowercapTree& tree, const PowercapZone& zone)
      : tree_(&tree), zone_(zone), lineage_(lineage(tree, zone_.directory)) {}

  // Also fails if the directory now belongs to another zone.
  Result<Done> open_file() {
    const auto path = file_path();
    if (lineage(*tree_, zone_.directory) != lineage_) return system_error(path, ENODEV);
    auto file = KeptFile::open(tree_->root.get(), path);
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
    return path_of(*tree_, zone_.directory, zone_.counts_power ? "power_uw" : "energy_uj");
  }

  Result<Microjoules> read_open_file(Nanoseconds now) {
    std::array<char, kLongestText> buffer{};
    const auto text = file_.read(buffer);
    if (!text) return text.error();
    auto energy = parse_energy_counter(*text);
    if (!energy) return Error{.message = file_path() + ": " + energy.error().message};
    return zone_.counts_power ? integral_.advance(now, {energy->value}) : *energy;
  }

  const PowercapTree* tree_;
  PowercapZone zone_;
  std::vector<std::string> lineage_;
  KeptFile file_;
  PowerIntegral integral_;
};

// Errors below are relative to the tree's root.
Error in_tree(const PowercapTree& tree, const Error& error) {
  return {.message = fmt::format("{}/{}", tree.shown, error.message), .code = error.code};
}

class PowercapSource final : public EnergySource {
 public:
  PowercapSource(PowercapTree tree, std::vector<std::string> directories)
      : tree_(std::move(tree)), directories_(std::move(directories)) {}

  // Fails if the counter can never be read.
  Result<Done> add(const PowercapZone& zone) {
    Counter counter(tree_, zone);
    const auto opened = counter.open_file();
    if (!opened && is_forbidden(opened.error().code)) return in_tree(tree_, opened.error());
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
      if (!energy) energy = in_tree(tree_, energy.error());
      readings.push_back(std::move(energy));
    }
  }

  bool outdated() const override {
    const auto directories = zone_directories(tree_);
    return (directories ? *directories : std::vector<std::string>{}) != directories_;
  }

 private:
  PowercapTree tree_;
  std::vector<std::string> directories_;  // when it was opened
  std::vector<Zone> zones_;
  std::vector<Counter> counters_;  // of zones_
};

std::vector<PowercapDirectory> read_directories(const PowercapTree& tree,
                                                const std::vector<std::string>& names) {
  std::vector<PowercapDirectory> directories;
  directories.reserve(names.size());
  for (const auto& name : names) directories.push_back(read_directory(tree, name));
  return directories;
}

std::vector<PowercapZone> discover(const PowercapTree& tree, const std::vector<std::string>& names,
                                   const Processor& processor) {
  const auto directories = read_directories(tree, names);
  auto zones = powercap_zones(directories, processor);
  return zones.empty() ? scmi_zones(directories) : zones;
}

Result<std::unique_ptr<EnergySource>> open_tree(PowercapTree tree, const std::vector<std::string>& names,
                                                const Processor& processor) {
  const auto directories = zone_directories(tree);
  if (!directories) return in_tree(tree, directories.error());
  const auto found = discover(tree, *directories, processor);
  if (found.empty()) return in_tree(tree, {.message = tree.path + ": no RAPL zones", .code = ENOENT});
  std::vector<Zone> zones;
  zones.reserve(found.size());
  for (const auto& zone : found) zones.push_back(zone.zone);
  const auto choice = check_choice(zones, names);
  if (!choice) return choice.error();

  auto source = std::make_unique<PowercapSource>(std::move(tree), *directories);
  for (const auto& zone : found) {
    if (!is_chosen(zone.zone, names)) continue;
    const auto added = source->add(zone);
    if (!added) return added.error();
  }
  return std::unique_ptr<EnergySource>(std::move(source));
}

// The kernel's own.
Result<PowercapTree> open_class(const HostRoot& host) {
  auto sysfs = open_directory(host.sysfs(), ".");
  if (!sysfs) return system_error(host.paths().sysfs, sysfs.error().code);
  return PowercapTree{.root = *std::move(sysfs), .shown = host.paths().sysfs, .path = kClass};
}

}  // namespace

Result<std::unique_ptr<EnergySource>> open_powercap(const HostRoot& host,
                                                    const std::vector<std::string>& names) {
  auto tree = open_class(host);
  if (!tree) return tree.error();
  return open_tree(*std::move(tree), names, read_processor(host));
}

Result<std::unique_ptr<EnergySource>> open_powercap_tree(PowercapTree tree,
                                                         const std::vector<std::string>& names) {
  return open_tree(std::move(tree), names, {});
}

std::vector<LeftOut> powercap_left_out(const HostRoot& host) {
  std::vector<LeftOut> left_out;
  const auto tree = open_class(host);
  if (!tree) return left_out;
  const auto directories = zone_directories(*tree);
  if (!directories) return left_out;
  powercap_zones(read_directories(*tree, *directories), read_processor(host), &left_out);
  const auto all = list_directory(tree->root.get(), kClass);
  const auto is_dtpm = [](const std::string& name) { return name.starts_with("dtpm:"); };
  if (all && std::any_of(all->begin(), all->end(), is_dtpm)) {
    left_out.push_back({"powercap dtpm", "is a model of the kernel, not a counter"});
  }
  return left_out;
}

std::string powercap_fix(const HostRoot& host, const Error& error) {
  if (is_forbidden(error.code)) {
    return "set AmbientCapabilities=CAP_DAC_READ_SEARCH in keplerd.service, as installed; "
           "if started by hand, run keplerd as root";
  }
  if (error.code != ENOENT) return {};
  if (read_processor(host).virtual_machine) {
    return "This is a virtual machine, which has no energy counters of its own: measure on its host.";
  }
  if (!read_processor(host).x86) return {};
  return "modprobe intel_rapl_msr (it serves AMD too)";
}

}  // namespace keplerd
