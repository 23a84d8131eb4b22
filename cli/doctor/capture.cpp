// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/capture.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <unistd.h>

#include "base/parse.h"
#include "base/unique_fd.h"
#include "base/write_all.h"
#include "cli/output/json.h"
#include "host/host_root.h"
#include "varlink/json.h"

namespace keplerd::cli {
namespace {

using varlink::Json;

constexpr std::size_t kLargestFile = 16 << 20;  // mountinfo of a host with thousands of containers
constexpr std::size_t kLargestText = 64 << 10;  // what is kept of one file
constexpr std::size_t kMostText = 4 << 20;      // of all files together
constexpr std::size_t kMostGroups = 500;

// The parts of long files that keplerd reads.
std::string keep_all(std::string_view text) { return std::string(text); }

// Only the first processor of /proc/cpuinfo; a board's serial number follows the last one.
std::string keep_first_block(std::string_view text) {
  const auto end = text.find("\n\n");
  return std::string(text.substr(0, end == text.npos ? end : end + 1));
}

std::string keep_lines(std::string_view text, bool (*wanted)(std::string_view line)) {
  std::string kept;
  while (!text.empty()) {
    const auto line = take_until(text, '\n');
    if (wanted(line)) kept += std::string(line) + "\n";
  }
  return kept;
}

std::string keep_cpu_times(std::string_view text) {
  return keep_lines(text, [](std::string_view line) { return line.starts_with("cpu"); });
}

// Other mounts would reveal names of disks, users and containers.
std::string keep_kernel_mounts(std::string_view text) {
  return keep_lines(text, [](std::string_view line) {
    return line.find(" - proc ") != line.npos || line.find(" - sysfs ") != line.npos ||
           line.find(" - cgroup") != line.npos;
  });
}

struct Wanted {
  std::string_view path;  // any component may be an fnmatch(3) pattern
  std::string (*keep)(std::string_view text) = keep_all;
};

constexpr std::array kSysfs = {
    Wanted{"class/powercap/*/name"},
    Wanted{"class/powercap/*/enabled"},
    Wanted{"class/powercap/*/max_energy_range_uj"},
    Wanted{"class/powercap/*/energy_uj"},
    Wanted{"class/powercap/*/power_uw"},
    Wanted{"class/powercap/*/constraint_*_uw"},
    Wanted{"class/hwmon/*/name"},
    Wanted{"class/hwmon/*/energy*_*"},
    Wanted{"class/hwmon/*/power*_label"},
    Wanted{"class/hwmon/*/power*_input"},
    Wanted{"class/hwmon/*/power*_average"},
    Wanted{"class/hwmon/*/device/power/runtime_status"},
    Wanted{"bus/event_source/devices/power/type"},
    Wanted{"bus/event_source/devices/power/cpumask"},
    Wanted{"bus/event_source/devices/power/events/*"},
    Wanted{"bus/event_source/devices/power_core/type"},
    Wanted{"bus/event_source/devices/power_core/cpumask"},
    Wanted{"bus/event_source/devices/power_core/events/*"},
    Wanted{"devices/system/cpu/online"},
    Wanted{"devices/system/cpu/cpu[0-9]*/topology/physical_package_id"},
    Wanted{"devices/system/cpu/cpu[0-9]*/topology/die_id"},
};

constexpr std::array kProcfs = {
    Wanted{"cpuinfo", keep_first_block},
    Wanted{"stat", keep_cpu_times},
    Wanted{"self/mountinfo", keep_kernel_mounts},
    Wanted{"pressure/irq"},
    Wanted{"sys/kernel/osrelease"},
    Wanted{"sys/kernel/perf_event_paranoid"},
};

// What a host shares with its virtual machine.
constexpr std::array kGuest = {
    Wanted{"run/keplerd-meter/quality"},
    Wanted{"run/keplerd-meter/*/name"},
    Wanted{"run/keplerd-meter/*/max_energy_range_uj"},
    Wanted{"run/keplerd-meter/*/energy_uj"},
};

bool is_gone(int code) { return code == ENOENT || code == ENOTDIR || code == ENODEV; }

class Capturer {
 public:
  // Adds the files below `directory`, named with `prefix`.
  Capturer(int directory, std::string prefix, Capture& capture)
      : directory_(directory), prefix_(std::move(prefix)), capture_(capture) {
    for (const auto& [path, text] : capture_.files) size_ += path.size() + text.size();
  }

  void take_all(const Wanted& wanted) { descend("", wanted.path, wanted); }

  void take_file(const std::string& path, const Wanted& wanted) {
    const auto text = read_text(directory_, path.c_str(), kLargestFile);
    if (!text) return fail(path, text.error().code);
    std::string kept = wanted.keep(*text);
    size_ += path.size() + kept.size();
    if (kept.size() > kLargestText || size_ > kMostText) {
      capture_.complete = false;
      return fail(path, EFBIG);
    }
    capture_.files[prefix_ + path] = std::move(kept);
  }

  void take_link(const std::string& path) {
    if (const auto target = read_link(directory_, path.c_str())) capture_.links[prefix_ + path] = *target;
  }

  std::vector<std::string> names(const std::string& path) {
    auto names = list_directory(directory_, path.empty() ? "." : path.c_str());
    if (!names) {
      fail(path, names.error().code);
      return {};
    }
    capture_.directories.insert(prefix_ + path);
    std::sort(names->begin(), names->end());
    return *std::move(names);
  }

 private:
  void fail(const std::string& path, int code) {
    if (is_gone(code)) return;
    const char* const name = ::strerrorname_np(code);
    capture_.errors[prefix_ + path] = name != nullptr ? name : std::to_string(code);
  }

  void descend(const std::string& done, std::string_view rest, const Wanted& wanted) {
    const std::string part(take_until(rest, '/'));
    const auto go_on = [&](const std::string& name) {
      const std::string path = done.empty() ? name : done + "/" + name;
      rest.empty() ? take_file(path, wanted) : descend(path, rest, wanted);
    };
    if (part.find_first_of("*[") == part.npos) return go_on(part);
    for (const auto& name : names(done)) {
      if (::fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0) go_on(name);
    }
  }

  int directory_;
  std::string prefix_;
  Capture& capture_;
  std::size_t size_ = 0;
};

// Groups nearest to the root first.
void capture_groups(int cgroupfs, Capture& capture) {
  Capturer capturer(cgroupfs, "cgroup/", capture);
  std::deque<std::string> groups = {""};
  for (std::size_t taken = 0; !groups.empty(); ++taken) {
    if (taken == kMostGroups) {
      capture.complete = false;
      return;
    }
    const std::string group = std::move(groups.front());
    groups.pop_front();
    capturer.take_file(group + "cpu.stat", {});
    capturer.take_file(group + "cgroup.type", {});
    auto children = list_subdirectories(cgroupfs, group.empty() ? "." : group.c_str());
    if (!children) continue;
    std::sort(children->begin(), children->end());
    for (const auto& child : *children) groups.push_back(group + child + "/");
  }
}

}  // namespace

Capture capture_host(const HostRoot& host) {
  Capture capture;
  Capturer sysfs(host.sysfs(), "sys/", capture);
  for (const Wanted& wanted : kSysfs) sysfs.take_all(wanted);
  for (const auto& chip : sysfs.names("class/hwmon")) sysfs.take_link("class/hwmon/" + chip + "/device");
  Capturer procfs(host.procfs(), "proc/", capture);
  for (const Wanted& wanted : kProcfs) procfs.take_all(wanted);
  Capturer root(host.root(), "root/", capture);
  for (const Wanted& wanted : kGuest) root.take_all(wanted);
  if (host.cgroupfs()) capture_groups(*host.cgroupfs(), capture);
  return capture;
}

Json capture_json(const Capture& capture) {
  Json json = Json::object();
  json["format"] = "keplerd-capture-1";
  json["complete"] = capture.complete;
  json["files"] = capture.files;
  json["links"] = capture.links;
  json["errors"] = capture.errors;
  json["directories"] = capture.directories;
  return json;
}

Result<Done> write_capture(const std::string& path, const Capture& capture) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return system_error(path, errno);
  return write_all(fd.get(), json_text(capture_json(capture), JsonMode::kPretty), path);
}

}  // namespace keplerd::cli
