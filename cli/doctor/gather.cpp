// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <ctime>
#include <span>

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/parse.h"
#include "cli/doctor/facts.h"
#include "client/requests.h"
#include "energy/shown_only.h"
#include "host/cpuinfo.h"
#include "host/host_root.h"
#include "host/owned_directory.h"

namespace keplerd::cli {
namespace {

constexpr std::size_t kMountinfoLimit = 4 << 20;

std::chrono::microseconds clock_now(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::microseconds(now.tv_nsec / 1000);
}

std::string user_name(uid_t uid) {
  const passwd* entry = getpwuid(uid);
  return entry != nullptr ? entry->pw_name : std::to_string(uid);
}

std::string group_name(gid_t gid) {
  const ::group* entry = getgrgid(gid);
  return entry != nullptr ? entry->gr_name : std::to_string(gid);
}

std::optional<FileFacts> facts_of(int directory, const std::string& path, int access) {
  struct stat status {};
  if (fstatat(directory, path.c_str(), &status, 0) != 0) return std::nullopt;
  FileFacts facts;
  facts.path = path;
  facts.mode = status.st_mode & 07777;
  facts.owner = user_name(status.st_uid);
  facts.group = group_name(status.st_gid);
  facts.readable = faccessat(directory, path.c_str(), access, AT_EACCESS) == 0;
  return facts;
}

void gather_daemon(const std::string& address, DoctorFacts& facts) {
  facts.address = address;
  const std::string path = address.starts_with("unix:") ? address.substr(5) : address;
  facts.socket = facts_of(AT_FDCWD, path, R_OK | W_OK);
  auto daemon = client::Daemon::connect(address);
  facts.status = daemon ? daemon->status() : daemon.error();
  facts.monotonic = clock_now(CLOCK_MONOTONIC);
  facts.realtime = clock_now(CLOCK_REALTIME);
  if (!facts.status) return;
  if (auto zones = daemon->list({.kind = client::Kind::kZones})) facts.zones = *std::move(zones);
}

Caller find_caller() {
  Caller caller{.is_root = geteuid() == 0};
  const ::group* const entry = getgrnam("keplerd");
  caller.group_exists = entry != nullptr;
  if (entry == nullptr) return caller;
  std::array<gid_t, 1024> groups{};
  const auto count = static_cast<std::size_t>(std::max(getgroups(groups.size(), groups.data()), 0));
  const std::span<const gid_t> all(groups.data(), count);
  caller.in_group = getegid() == entry->gr_gid || std::ranges::find(all, entry->gr_gid) != all.end();
  return caller;
}

void gather_counters(const HostRoot& host, DoctorFacts& facts) {
  auto zones = list_directory(host.sysfs(), "class/powercap");
  if (!zones) return;
  std::sort(zones->begin(), zones->end());
  for (const std::string& zone : *zones) {
    auto counter = facts_of(host.sysfs(), "class/powercap/" + zone + "/energy_uj", R_OK);
    if (!counter) continue;
    counter->path = host.paths().sysfs + "/" + counter->path;
    facts.counters.push_back(std::move(*counter));
  }
}

bool has_cgroups(int root) {
  const auto names = list_directory(root, ".");
  return names && std::ranges::any_of(*names, [root](const std::string& name) {
           return faccessat(root, (name + "/cgroup.procs").c_str(), F_OK, 0) == 0;
         });
}

// The names of the directories of groups; those that are none are reserved.
std::size_t count_groups(const HostRoot& host, const std::string& path) {
  const auto names = list_subdirectories(host.sysfs(), path.c_str());
  if (!names) return 0;
  std::size_t groups = 0;
  for (const std::string& name : *names)
    if (name != "info" && name != "mon_data" && name != "mon_groups")
      groups += 1 + count_groups(host, path + "/" + name + "/mon_groups");
  return groups;
}

constexpr std::size_t kMostReported = 64 << 10;

// Whether resctrl's list of what it counts has a line.
bool has_feature(const HostRoot& host, const std::string& path, const std::string& feature) {
  const auto features = read_text(host.sysfs(), path.c_str(), kMostReported);
  return features && ("\n" + *features).find("\n" + feature + "\n") != std::string::npos;
}

void gather_report(const HostRoot& host, const char* program, const char* file, CountFacts& count) {
  const auto directory = open_owned(host.root(), fmt::format("run/keplerd-usage/{}", program));
  if (!directory) return;
  const auto text = read_owned(*directory, file, kMostReported);
  if (!text || !*text) return;
  const auto lines = static_cast<std::size_t>(std::ranges::count(**text, '\n'));
  count.report = (*text)->substr(0, (*text)->find('\n'));
  count.measured = std::max<std::size_t>(lines, 1) - 1;
}

bool has_pmu(const HostRoot& host) {
  const auto names = list_directory(host.sysfs(), "bus/event_source/devices");
  const auto is_processors = [](const std::string& name) {
    return name == "cpu" || name.starts_with("cpu_") || name.starts_with("armv");
  };
  return names && std::ranges::any_of(*names, is_processors);
}

void gather_counts(const HostRoot& host, DoctorFacts& facts) {
  facts.events.counts_groups = has_pmu(host);
  const std::string cpuinfo = read_cpuinfo(host);
  facts.memory_traffic.can_count = cpuinfo.find(" cqm_mbm_total") != std::string::npos;
  facts.events.can_count =
      facts.events.counts_groups && cpuinfo_field(cpuinfo, "vendor_id") == "GenuineIntel";
  facts.memory_traffic.counts_groups =
      has_feature(host, "fs/resctrl/info/L3_MON/mon_features", "mbm_total_bytes");
  facts.core_energy.counts_groups =
      has_feature(host, "fs/resctrl/info/PERF_PKG_MON/mon_features", "core_energy");
  facts.monitoring_groups = count_groups(host, "fs/resctrl") + count_groups(host, "fs/resctrl/mon_groups");
  gather_report(host, "resctrl", "memory-0", facts.memory_traffic);
  gather_report(host, "resctrl", "cores-0", facts.core_energy);
  for (const char* const file : {"misses-0", "cycles-0", "instructions-0"})
    gather_report(host, "perf", file, facts.events);
  facts.boottime = clock_now(CLOCK_BOOTTIME);
}

void gather_host(const HostPaths& paths, DoctorFacts& facts) {
  const auto host = HostRoot::open(paths);
  if (!host) {
    facts.host_error = host.error().message;
    return;
  }
  facts.meters = probe_sources(*host, {.guest_meter = facts.settings.energy.guest_meter});
  facts.left_out = left_out(*host);
  if (const auto shown_only = open_shown_only(*host, {})) {
    for (const Zone& zone : shown_only->zones()) facts.shown_only.push_back(zone.id);
  }
  gather_counts(*host, facts);
  facts.libvirt = facts_of(host->root(), "run/libvirt/qemu", R_OK);
  gather_counters(*host, facts);
  if (host->cgroupfs()) {
    facts.cgroup2 = host->paths().cgroupfs.value_or("");
    facts.has_cgroups = has_cgroups(*host->cgroupfs());
  }
  if (const auto mountinfo = read_text(host->procfs(), "self/mountinfo", kMountinfoLimit)) {
    facts.proc = parse_proc_mount(*mountinfo);
  }
  facts.interrupts_apart = faccessat(host->procfs(), "pressure/irq", F_OK, 0) == 0;
  facts.has_frequency =
      faccessat(host->sysfs(), "devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", R_OK, AT_EACCESS) == 0;
}

}  // namespace

ProcMount parse_proc_mount(std::string_view mountinfo) {
  ProcMount found;
  while (!mountinfo.empty()) {
    // ID PARENT DEVICE ROOT MOUNT-POINT OPTIONS [OPTIONAL...] - TYPE SOURCE SUPER-OPTIONS
    const std::string_view line = take_until(mountinfo, '\n');
    const auto separator = line.find(" - ");
    if (separator == std::string_view::npos) continue;
    std::string_view before = line.substr(0, separator);
    for (int i = 0; i < 4; ++i) take_word(before);
    std::string_view after = line.substr(separator + 3);
    if (take_word(before) != "/proc" || take_word(after) != "proc") continue;
    take_word(after);
    found = {};  // a later mount covers the earlier one
    std::string_view options = take_word(after);
    while (!options.empty()) {
      const std::string_view option = take_until(options, ',');
      if (option.starts_with("hidepid=")) found.hidepid = option.substr(8);
      if (option.starts_with("gid=")) found.gid = option.substr(4);
    }
    if (found.hidepid == "0" || found.hidepid == "off") found.hidepid.clear();
  }
  return found;
}

DoctorFacts gather_facts(const std::string& address, const HostPaths& paths) {
  DoctorFacts facts;
  gather_daemon(address, facts);
  facts.caller = find_caller();
  if (const auto loaded = load_settings()) {
    facts.config_files = loaded->files;
    facts.settings = loaded->settings;
  } else {
    facts.config_error = loaded.error().message;
  }
  gather_host(paths, facts);
  return facts;
}

}  // namespace keplerd::cli
