// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/guest_trees.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/parse.h"
#include "base/text.h"
#include "daemon/publish/hostile_directory.h"
#include "host/kept_file.h"
#include "workloads/identifier.h"

namespace keplerd {
namespace {

constexpr Nanoseconds kPeriod = std::chrono::seconds(10);
constexpr Nanoseconds kLate = std::chrono::milliseconds(100);
constexpr Nanoseconds kComplaintPeriod = std::chrono::minutes(1);
// Never reached, so that a step back is never mistaken for a wrap.
constexpr std::int64_t kRange = INT64_MAX;
// After a crash the totals are a minute old: at 500 W, this many joules less than were published.
constexpr std::int64_t kMostUnsaved = 30'000;
constexpr int kMostSockets = 64;
constexpr std::size_t kMostTrees = 4096;
// How many entries are removed at each instant, from one directory and from all: some 10 ms.
constexpr std::size_t kRemovedOfOne = 512;
constexpr std::size_t kRemovedOfAll = 4096;

std::string package_directory(int socket) { return fmt::format("intel-rapl:{}", socket); }
std::string dram_directory(int socket) { return fmt::format("intel-rapl:{}:0", socket); }

// Matches the ids of VMs, and nothing else that an administrator may have in that directory.
bool is_vm_id(std::string_view name) {
  if (!name.empty() && canonical_uuid(name) == name) return true;
  const auto pid = take_until(name, '.');
  return is_digits(pid) && is_digits(name);
}

bool asks_for_meter(const VmInfo& vm) {
  const auto answer = vm.metadata.find("keplerd.meter");
  return answer != vm.metadata.end() && answer->second == "yes";
}

Result<Done> write_zone(int tree, const std::string& directory, const std::string& name, std::int64_t joules,
                        bool whole) {
  const auto zone = whole ? open_or_make_directory(tree, directory) : open_inner_directory(tree, directory);
  if (!zone) return zone.error();
  if (whole) {
    if (auto done = replace_file(zone->get(), "max_energy_range_uj", fmt::format("{}\n", kRange)); !done)
      return done;
    if (auto done = replace_file(zone->get(), "name", name + "\n"); !done) return done;
  }
  return replace_file(zone->get(), "energy_uj", fmt::format("{}\n", joules * kJoule));
}

// `before`: the present contents; unset if there are none, or if they may be wrong.
Result<Done> write_meter(int tree, const GuestMeter& meter, const std::optional<GuestMeter>& before) {
  for (int socket = 0; socket < meter.sockets; ++socket) {
    const auto part = [&](std::int64_t joules) { return socket_share(joules, socket, meter.sockets); };
    if (meter.has_dram && (!before || part(before->dram) != part(meter.dram))) {
      if (auto done = write_zone(tree, dram_directory(socket), "dram", part(meter.dram), !before); !done)
        return done;
    }
    if (before && part(before->packages) == part(meter.packages)) continue;
    const std::string package = package_directory(socket);
    if (auto done =
            write_zone(tree, package, fmt::format("package-{}", socket), part(meter.packages), !before);
        !done)
      return done;
    if (before || !meter.has_dram) continue;
    // The kernel has it at both places.
    const auto zone = open_or_make_directory(tree, package);
    if (!zone) return zone.error();
    if (auto done = make_link(zone->get(), dram_directory(socket), "../" + dram_directory(socket)); !done)
      return done;
  }
  return Done{};
}

// The values in the tree now, which others may have written. Nothing without sockets.
GuestMeter read_meter(int tree) {
  GuestMeter meter{.sockets = 0};
  for (; meter.sockets < kMostSockets; ++meter.sockets) {
    const auto package = read_count(tree, package_directory(meter.sockets), "energy_uj");
    if (!package) break;
    const auto dram = read_count(tree, dram_directory(meter.sockets), "energy_uj");
    meter.packages += *package / kJoule;
    meter.dram += dram.value_or(0) / kJoule;
    meter.has_dram = meter.has_dram || dram;
  }
  return meter;
}

bool have_same_shape(const GuestMeter& a, const GuestMeter& b) {
  return a.sockets == b.sockets && a.has_dram == b.has_dram;
}

std::int64_t not_below(std::int64_t floor, std::int64_t joules) {
  return floor > joules && floor - joules <= kMostUnsaved ? floor : joules;
}

}  // namespace

bool is_chosen(const VmInfo& vm, const GuestSettings& settings) {
  if (settings.by_metadata && asks_for_meter(vm)) return true;
  return std::ranges::any_of(settings.vms, [&](const std::string& wanted) {
    return wanted == "all" || wanted == vm.name || equals_ignoring_case(wanted, vm.id);
  });
}

GuestTrees::GuestTrees(GuestSettings settings, std::function<void(const std::string&)> complain)
    : settings_(std::move(settings)), complain_(std::move(complain)) {}

// A late tick does not bring the next one closer.
bool GuestTrees::is_due(Nanoseconds now) {
  if (due_ && now < *due_) return false;
  due_ = due_ && now - *due_ <= kLate ? *due_ + kPeriod : now + kPeriod;
  return true;
}

void GuestTrees::update(const Report& report) {
  now_ = report.monotonic;
  if (!is_due(now_) || (is_off() && instants_ > 1 && leaving_.empty())) return;
  const auto base = open_base();
  if (!base) {
    if (!is_off()) complain(base.error().message);
    return;
  }
  make_listed(base->get());
  std::map<std::string, Tree> known;
  known.swap(trees_);
  for (const VmRow& vm : report.vms) {
    if (!vm.running || !is_chosen(*vm.info, settings_) || trees_.size() >= kMostTrees) continue;
    const std::string& id = vm.info->id;
    if (!is_vm_id(id)) continue;
    trees_[id] = known[id];
    known.erase(id);
    leaving_.erase(id);
    const auto written = write(base->get(), report, vm);
    if (written) continue;
    trees_[id].written.reset();
    complain(id + "/" + written.error().message);
  }
  for (const auto& [id, tree] : known) leaving_.insert(id);
  clean(base->get());
  ++instants_;
}

Result<UniqueFd> GuestTrees::open_base() const {
  const char* const path = settings_.directory.c_str();
  if (!is_off()) ::mkdir(path, 0750);
  UniqueFd fd(::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return system_error(settings_.directory, errno);
  return fd;
}

Result<Done> GuestTrees::write(int base, const Report& report, const VmRow& vm) {
  Tree& tree = trees_[vm.info->id];
  GuestMeter meter = guest_meter(report, vm);
  if (tree.written && !have_same_shape(*tree.written, meter)) tree.written.reset();
  const std::optional<GuestMeter> before = std::exchange(tree.written, std::nullopt);
  const auto fd =
      before ? open_inner_directory(base, vm.info->id) : open_or_make_directory(base, vm.info->id);
  if (!fd) return fd.error();
  if (!before) {
    tree.floor = read_meter(fd->get());
    std::size_t budget = kRemovedOfOne;
    if (!have_same_shape(tree.floor, meter)) remove_contents(fd->get(), budget);
  }
  meter.packages = not_below(tree.floor.packages, meter.packages);
  meter.dram = not_below(tree.floor.dram, meter.dram);
  if (!before || tree.quality != report.workload_quality) {
    const std::string text = std::string(quality_name(report.workload_quality)) + "\n";
    if (auto done = replace_file(fd->get(), "quality", text); !done) return done;
    tree.quality = report.workload_quality;
  }
  if (auto done = write_meter(fd->get(), meter, before); !done) return done;
  tree.written = meter;
  return Done{};
}

// VMs whose id is known before they run: the directory must exist so that it can be shared.
void GuestTrees::make_listed(int base) {
  for (const std::string& name : settings_.vms) {
    const std::string uuid = canonical_uuid(name);
    if (uuid.empty()) continue;
    const auto made = open_or_make_directory(base, uuid);
    if (!made) complain(made.error().message);
  }
}

void GuestTrees::clean(int base) {
  // A running VM may not have been found by the first sample of a run.
  if (instants_ == 0) return;
  const auto names = list_subdirectories(base, ".");
  if (!names) return complain(names.error().message);
  std::size_t budget = kRemovedOfAll;
  for (const std::string& name : *names) {
    if (is_vm_id(name) && !trees_.contains(name)) clean_one(base, name, budget);
  }
}

// Empties it, and removes it at the next instant if it still is not wanted: a VM that is restarted at
// once finds it. One that was empty from the beginning was created by someone for a VM that is yet to
// start.
void GuestTrees::clean_one(int base, const std::string& name, std::size_t& budget) {
  const auto fd = open_inner_directory(base, name);
  if (!fd) return complain(fd.error().message);
  if (!is_empty_directory(fd->get())) {
    leaving_.insert(name);
    std::size_t own = std::min(budget, kRemovedOfOne);
    const std::size_t given = own;
    if (!remove_contents(fd->get(), own) && own > 0) complain(name + ": cannot be emptied");
    budget -= given - own;
    return;
  }
  const bool listed = std::ranges::any_of(
      settings_.vms, [&](const std::string& wanted) { return equals_ignoring_case(wanted, name); });
  if (leaving_.erase(name) > 0 && !listed) ::unlinkat(base, name.c_str(), AT_REMOVEDIR);
}

void GuestTrees::complain(const std::string& what) {
  if (complained_ && now_ - *complained_ < kComplaintPeriod) return;
  complained_ = now_;
  complain_("guests' meters: " + what);
}

}  // namespace keplerd
