// SPDX-License-Identifier: Apache-2.0
#include "support/fake_host.h"

#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <stdlib.h>

namespace keplerd {

namespace fs = std::filesystem;

FakeHost::FakeHost() {
  std::string name = fs::temp_directory_path() / "keplerd-test-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp: " + name);
  root_ = name;
  for (const char* directory : {"sys", "proc", "cgroup", "root", "removed"})
    fs::create_directory(root_ / directory);
  set_cpu_vendor("GenuineIntel");
  set_stat({});
  add_cgroup("/");
}

FakeHost::~FakeHost() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

HostPaths FakeHost::paths() const {
  return {
      .sysfs = root_ / "sys", .procfs = root_ / "proc", .cgroupfs = root_ / "cgroup", .root = root_ / "root"};
}

HostRoot FakeHost::open() const {
  auto host = HostRoot::open(paths());
  if (!host) throw std::runtime_error(host.error().message);
  return *std::move(host);
}

void FakeHost::write(const std::string& path, std::string_view text) {
  const auto target = root_ / path;
  fs::create_directories(target.parent_path());
  if (fs::is_directory(target)) fs::remove_all(target);
  const auto draft = root_ / "draft";
  std::ofstream file(draft, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + draft.string());
  fs::rename(draft, target);
}

void FakeHost::remove(const std::string& path) { fs::remove_all(root_ / path); }

void FakeHost::link(const std::string& path, const std::string& target) {
  remove(path);
  fs::create_directories((root_ / path).parent_path());
  fs::create_symlink(target, root_ / path);
}

void FakeHost::break_file(const std::string& path) {
  remove(path);
  fs::create_directories(root_ / path);
}

// The kernel's tree: devices/virtual/powercap/intel-rapl/intel-rapl:0/intel-rapl:0:1.
std::string FakeHost::zone_path(const std::string& dir) const {
  std::string path = "sys/devices/virtual/powercap";
  for (auto end = dir.find(':'); end != std::string::npos; end = dir.find(':', end + 1)) {
    path += "/" + dir.substr(0, end);
  }
  return path + "/" + dir;
}

void FakeHost::add_powercap_zone(const FakeZone& zone) {
  const auto path = zone_path(zone.dir);
  write(path + "/name", zone.name + "\n");
  write(path + "/enabled", "1\n");
  if (zone.range) write(path + "/max_energy_range_uj", fmt::format("{}\n", *zone.range));
  for (std::size_t i = 0; i < zone.limits.size(); ++i) {
    write(fmt::format("{}/constraint_{}_name", path, i), i == 0 ? "long_term\n" : "short_term\n");
    write(fmt::format("{}/constraint_{}_power_limit_uw", path, i), fmt::format("{}\n", zone.limits[i]));
  }
  for (std::size_t i = 0; i < zone.max_powers.size(); ++i) {
    write(fmt::format("{}/constraint_{}_max_power_uw", path, i), fmt::format("{}\n", zone.max_powers[i]));
  }
  const auto control_type = zone.dir.substr(0, zone.dir.find(':'));
  const auto class_directory = root_ / "sys/class/powercap";
  fs::create_directories(class_directory);
  for (const auto& [name, target] :
       {std::pair{control_type, "sys/devices/virtual/powercap/" + control_type}, std::pair{zone.dir, path}}) {
    if (!fs::is_symlink(class_directory / name)) {
      fs::create_directory_symlink("../../" + target.substr(sizeof "sys"), class_directory / name);
    }
  }
  set_energy(zone.dir, zone.energy);
}

void FakeHost::remove_powercap_zone(const std::string& dir) {
  remove(zone_path(dir));
  std::vector<fs::path> links;
  for (const auto& entry : fs::directory_iterator(root_ / "sys/class/powercap")) {
    const auto name = entry.path().filename().string();
    if (name == dir || name.starts_with(dir + ":")) links.push_back(entry.path());
  }
  for (const auto& link : links) fs::remove(link);
}

void FakeHost::set_energy(const std::string& dir, std::int64_t microjoules) {
  set_energy_text(dir, fmt::format("{}\n", microjoules));
}

void FakeHost::set_energy_text(const std::string& dir, std::string_view text) {
  const auto path = zone_path(dir) + "/energy_uj";
  write(path, text);
  fs::permissions(root_ / path, fs::perms::owner_read);
}

void FakeHost::break_energy(const std::string& dir) { break_file(zone_path(dir) + "/energy_uj"); }

void FakeHost::set_cpu_vendor(std::string_view vendor_id, std::string_view flags) {
  write("proc/cpuinfo", fmt::format("processor\t: 0\nvendor_id\t: {}\ncpu family\t: 6\nmodel\t\t: 106\n"
                                    "model name\t: A processor\nflags\t\t: {}\nbogomips\t: 4000.00\n\n",
                                    vendor_id, flags));
}

void FakeHost::set_stat(const FakeCpuTicks& ticks, const std::vector<FakeCpuTicks>& of_each_cpu) {
  const auto line = [](const std::string& name, const FakeCpuTicks& t) {
    return fmt::format("{} {} {} {} {} {} {} {} {} 0 0\n", name, t.user, t.nice, t.system, t.idle, t.iowait,
                       t.irq, t.softirq, t.steal);
  };
  std::string text = line("cpu ", ticks);
  if (of_each_cpu.empty()) text += line("cpu0", ticks);
  for (std::size_t cpu = 0; cpu < of_each_cpu.size(); ++cpu)
    text += line("cpu" + std::to_string(cpu), of_each_cpu[cpu]);
  text +=
      "intr 0\nctxt 0\nbtime 1700000000\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n"
      "softirq 0 0 0 0 0 0 0 0 0 0 0\n";
  write("proc/stat", text);
}

}  // namespace keplerd
