// SPDX-License-Identifier: Apache-2.0
#include "energy/meters/meter_directories.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/parse.h"
#include "base/text.h"
#include "energy/meters/delayed_counter.h"
#include "energy/meters/meter_files.h"
#include "host/directory_watch.h"
#include "host/host_root.h"
#include "host/owned_directory.h"
#include "host/regular_file.h"

namespace keplerd {
namespace {

constexpr std::size_t kMostEntries = 1000;  // of a directory
constexpr std::size_t kLongestFile = 256;
constexpr std::size_t kLongestProblem = 512;

// Parts of ids of other zones.
constexpr std::array<std::string_view, 13> kReservedNames = {
    "acpi", "amdgpu", "arm-scmi", "battery",  "estimated", "guest", "hwmon",
    "i915", "ina",    "perf",     "platform", "powercap",  "xe"};

constexpr const char kProblem[] = "problem";

Result<MeterDescription> read_description(const OwnedDirectory& directory) {
  MeterTexts texts;
  const std::pair<const char*, std::optional<std::string>*> files[] = {
      {"covers", &texts.covers},    {"quality", &texts.quality}, {"name", &texts.name},
      {"energy_uj", &texts.energy}, {"power_uw", &texts.power},  {"device", &texts.device}};
  for (const auto& [name, text] : files) {
    auto found = read_owned(directory, name, kLongestFile);
    if (!found) return found.error();
    *text = *std::move(found);
  }
  return describe_meter(texts);
}

Result<MeterReading> read_reading(const OwnedDirectory& directory, bool counts_energy) {
  const auto value = read_owned(directory, counts_energy ? "energy_uj" : "power_uw", kLongestFile);
  if (!value) return value.error();
  const auto time = read_owned(directory, "boottime_us", kLongestFile);
  if (!time) return time.error();
  if (!*value || !*time) return Error{.message = "its value or boottime_us is missing"};
  return parse_meter_reading(**value, **time);
}

struct FoundMeter {
  std::string source;  // the name of the outer directory
  std::string shown;   // with that of the inner one, if there is one
  OwnedDirectory directory;
  MeterDescription meter;
};

struct Found {
  std::vector<FoundMeter> meters;
  std::vector<LeftOut> left_out;
  std::vector<LeftOut> problems;  // as their programs state them

  // Of all that is there: a meter may be left out because its files are still being written, and its
  // directory is another one when its program has been restarted.
  std::vector<std::string> signature() const {
    std::vector<std::string> lines;
    for (const FoundMeter& meter : meters)
      lines.push_back(fmt::format("{} {} {} {}", meter.shown, meter.directory.inode,
                                  meter.meter.counts_energy, meter.meter.device));
    for (const LeftOut& one : left_out) lines.push_back(one.what + ": " + one.why);
    return lines;
  }
};

class Search {
 public:
  explicit Search(Found& found) : found_(found) {}

  void add(int root, const std::string& name) {
    if (!is_meter_name(name) || std::ranges::count(kReservedNames, name) > 0)
      return leave_out(name, "is not a name for a meter");
    auto directory = open_owned(root, name);
    if (!directory) return leave_out(name, directory.error().message);
    const bool has_problem = add_problem(name, *directory);
    if (has_entry(*directory, "covers")) return add_meter(name, name, *std::move(directory));
    auto inner = names_in(*directory, kMostEntries);
    if (!inner) return leave_out(name, inner.error().message);
    std::erase_if(*inner, [](const std::string& one) { return final_name(one) == kProblem; });
    if (inner->empty() && !has_problem) return leave_out(name, "is empty");
    for (const std::string& one : *inner) add_inner(name, *directory, one);
  }

  void leave_out(const std::string& name, const std::string& why) {
    if (found_.left_out.size() >= kMostMeters) return;
    found_.left_out.push_back({"meter " + escape_name(name), why});
  }

 private:
  // Of the file that will have this name when it is complete (keplerd-meters(7)).
  static std::string_view final_name(std::string_view file) {
    if (file.ends_with('~')) file.remove_suffix(1);
    return file;
  }

  bool add_problem(const std::string& name, const OwnedDirectory& directory) {
    const auto text = read_owned(directory, kProblem, kLongestProblem);
    if (text && !*text) return false;
    found_.problems.push_back({.what = "meter " + escape_name(name),
                               .why = text ? escape_name(trim(**text)) : text.error().message,
                               .is_problem = true});
    return true;
  }

  void add_inner(const std::string& source, const OwnedDirectory& outer, const std::string& name) {
    const std::string shown = source + "/" + name;
    auto directory = open_owned(outer.fd.get(), name);
    if (!directory) return leave_out(shown, directory.error().message);
    if (directory->owner != outer.owner)
      return leave_out(shown, "does not belong to the owner of the directory around it");
    add_meter(source, shown, *std::move(directory));
  }

  void add_meter(const std::string& source, const std::string& shown, OwnedDirectory directory) {
    if (found_.meters.size() >= kMostMeters)
      return leave_out(shown, fmt::format("there are more than {} meters", kMostMeters));
    auto meter = read_description(directory);
    if (!meter) return leave_out(shown, meter.error().message);
    found_.meters.push_back({source, shown, std::move(directory), *std::move(meter)});
  }

  Found& found_;
};

Found find_meters(int host) {
  Found found;
  Search search(found);
  // Who may create directories there may add a meter.
  const auto root = open_roots(host, kMeterDirectories);
  if (!root) {
    if (root.error().code != ENOENT) search.leave_out("directories", root.error().message);
    return found;
  }
  auto names = names_in(*root, kMostEntries);
  if (!names) {
    search.leave_out("directories", names.error().message);
    return found;
  }
  for (const std::string& name : *names) search.add(root->fd.get(), name);
  return found;
}

// A power is integrated, which is a model.
Quality quality_of(const MeterDescription& meter) {
  return meter.counts_energy ? meter.quality : std::max(meter.quality, Quality::kModelled);
}

class MeterSource final : public EnergySource {
 public:
  MeterSource(const HostRoot& host, const std::vector<std::string>& names, BootClock clock)
      : clock_(std::move(clock)), watch_(DirectoryWatch::Entries::kWrittenFiles) {
    if (auto root = open_without_links(host.root(), ".")) root_ = *std::move(root);
    Found found = find_meters(root_.get());
    seen_ = found.signature();
    std::map<std::pair<std::string, std::string>, int> indexes;
    for (FoundMeter& one : found.meters) {
      const int index = indexes[{one.source, one.meter.name}]++;
      Zone zone{.id = zone_id(one.source, one.meter.name, index),
                .name = one.meter.name,
                .index = index,
                .quality = quality_of(one.meter),
                .begins_anew = !one.meter.counts_energy,
                .resource = one.meter.covers == Coverage::kGpu ? Resource::kGpu : Resource::kNone,
                .device = one.meter.device,
                .covers = one.meter.covers};
      if (!is_chosen(zone, names)) continue;
      zones_.push_back(std::move(zone));
      const auto handle = watch_.add(one.directory.fd.get());
      meters_.push_back({std::move(one.directory), one.meter.counts_energy,
                         DelayedCounter(one.meter.counts_energy), handle ? *handle : -1});
    }
  }

  std::string_view name() const override { return "meters"; }
  const std::vector<Zone>& zones() const override { return zones_; }

  void read(Nanoseconds, ZoneReadings& readings) override {
    note_changes();
    read_ = clock_();
    readings.clear();
    for (Meter& meter : meters_) readings.push_back(read_meter(meter, read_));
  }

  void ages(ReadingAges& ages) const override {
    ages.clear();
    for (const Meter& meter : meters_) ages.push_back(meter.counter.age(read_));
  }

  // Its readings come when they come.
  bool may_read_seldom() const override { return std::ranges::all_of(meters_, &Meter::counts_energy); }

  bool outdated() const override { return find_meters(root_.get()).signature() != seen_; }

 private:
  struct Meter {
    OwnedDirectory directory;
    bool counts_energy = false;
    DelayedCounter counter;
    int watch = -1;  // it is read each time if it cannot be watched
    bool changed = true;
    int written = 0;  // readings since the last one that was taken
    std::string problem = {};
  };

  void note_changes() {
    const auto note = [this](int handle, DirectoryWatch::Change change, const std::string& name) {
      for (Meter& meter : meters_) {
        if (meter.watch != handle) continue;
        meter.changed = true;
        if (name == "boottime_us" && change == DirectoryWatch::Change::kCame) ++meter.written;
      }
    };
    const bool complete = watch_.drain(note);
    if (complete) return;
    for (Meter& meter : meters_) meter.changed = true;
  }

  static Result<Microjoules> read_meter(Meter& meter, Nanoseconds now) {
    if (meter.changed || meter.watch < 0) {
      meter.changed = false;
      const auto reading = read_reading(meter.directory, meter.counts_energy);
      meter.problem = reading ? std::string() : reading.error().message;
      if (reading && reading->time - now > std::chrono::seconds(1)) {
        meter.problem = "the time of its last reading is in the future";
      } else if (reading) {
        meter.counter.take(*reading, std::exchange(meter.written, 0));
      }
    }
    if (!meter.problem.empty()) return Error{.message = meter.problem};
    return meter.counter.read(now);
  }

  UniqueFd root_;  // of its own: the source outlives the HostRoot
  BootClock clock_;
  Nanoseconds read_{0};  // when it was last read
  DirectoryWatch watch_;
  std::vector<std::string> seen_;
  std::vector<Zone> zones_;
  std::vector<Meter> meters_;  // of zones_
};

}  // namespace

Nanoseconds boot_time() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec) + Nanoseconds(now.tv_nsec);
}

std::unique_ptr<EnergySource> open_meter_directories(const HostRoot& host,
                                                     const std::vector<std::string>& names, BootClock clock) {
  return std::make_unique<MeterSource>(host, names, std::move(clock));
}

std::vector<LeftOut> meters_left_out(const HostRoot& host) {
  Found found = find_meters(host.root());
  std::ranges::move(found.left_out, std::back_inserter(found.problems));
  return std::move(found.problems);
}

}  // namespace keplerd
