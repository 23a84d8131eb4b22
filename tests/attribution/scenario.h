// SPDX-License-Identifier: Apache-2.0
// A written host, read and attributed as keplerd does it.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "attribution/attributor.h"
#include "attribution/invariants.h"
#include "attribution/make_model.h"
#include "energy/cpu/powercap.h"
#include "support/fake_host.h"
#include "usage/usage_reader.h"

namespace keplerd {

inline constexpr std::int64_t kRange = 262'143'328'850;
inline constexpr std::int64_t kJoule = 1'000'000;

// A host with a package of 4 processors, a unit and its neighbour.
class Scenario : public testing::Test {
 protected:
  Scenario() {
    add_zone({.dir = "intel-rapl:0", .name = "package-0", .energy = 1000 * kJoule, .limits = {100 * kJoule}});
    fake_.set_stat(ticks_);
    fake_.add_cgroup("/system.slice/storm.service");
    fake_.add_cgroup("/system.slice/quiet.service");
    fake_.add_process({.pid = 10, .comm = "quiet", .cgroup = kQuiet});
  }

  void add_zone(const FakeZone& zone) {
    fake_.add_powercap_zone(zone);
    counters_[zone.dir] = zone.energy;
  }

  // The first sample: a baseline.
  void begin(std::span<const SavedReading> saved = {}) {
    host_ = std::make_unique<HostRoot>(fake_.open());
    auto source = open_powercap(*host_, {});
    ASSERT_TRUE(source) << source.error().message;
    source_ = *std::move(source);
    usage_ = std::make_unique<UsageReader>(*host_);
    attributor_.set_zones(source_->zones(), saved);
    if (saved.empty()) take_sample(std::chrono::seconds(1));
  }

  // The window that ends now, with the energy that each zone (by id, without its source) is known to have
  // drawn; unnamed zones drew nothing.
  const Attribution& window(const std::map<std::string, std::int64_t>& energies,
                            Nanoseconds after = std::chrono::seconds(1)) {
    take_sample(after);
    std::vector<Microjoules> deltas;
    for (const Zone& zone : source_->zones()) {
      const auto energy = energies.find(fmt::format("{}:{}", zone.name, zone.index));
      deltas.push_back({energy == energies.end() ? 0 : energy->second});
    }
    expect_invariants(*result_, sample_, deltas);
    return *result_;
  }

  void take_sample(Nanoseconds after) {
    now_ += after;
    sample_.at = {.monotonic = now_, .boottime = now_ + asleep_};
    source_->read(now_, sample_.readings);
    const auto read = usage_->read(sample_.at.boottime, sample_.usage);
    ASSERT_TRUE(read) << read.error().message;
    result_ = &attributor_.attribute(sample_);
  }

  void draw(std::int64_t energy, const std::string& dir = "intel-rapl:0") {
    counters_[dir] = (counters_[dir] + energy) % kRange;
    fake_.set_energy(dir, counters_[dir]);
  }

  void run_ticks(std::int64_t user, std::int64_t idle, std::int64_t iowait = 0) {
    ticks_.user += user;
    ticks_.idle += idle;
    ticks_.iowait += iowait;
    fake_.set_stat(ticks_);
  }

  // In milliseconds, of the group and its ancestors.
  void run_group(std::string path, std::int64_t time) {
    for (; !path.empty(); path.resize(path.rfind('/'))) {
      usages_[path] += time * 1000;
      fake_.set_cgroup_usage(path, usages_[path]);
    }
  }
  void run(pid_t pid, const std::string& group, std::int64_t time) {
    times_[pid] += time / 10;
    fake_.set_process_time(pid, times_[pid]);
    if (group != "/") run_group(group, time);
  }

  std::size_t group(std::string_view path) const {
    const auto& groups = sample_.usage.groups;
    const auto found = std::ranges::find(groups, path, &GroupUsage::path);
    EXPECT_NE(found, groups.end()) << path;
    return static_cast<std::size_t>(found - groups.begin());
  }
  std::int64_t energy_of_group(std::string_view path) const {
    return result_->zones[0].group[group(path)].value;
  }
  std::int64_t other_of(std::string_view path) const { return result_->zones[0].other[group(path)].value; }
  std::int64_t unattributed() const { return result_->zones[0].unattributed.value; }
  std::int64_t energy_of_process(pid_t pid) const {
    for (std::size_t i = 0; i < sample_.usage.processes.size(); ++i) {
      if (sample_.usage.processes[i].id.pid == pid) return result_->zones[0].process[i].value;
    }
    ADD_FAILURE() << "no process " << pid;
    return -1;
  }

  static constexpr const char* kStorm = "/system.slice/storm.service";
  static constexpr const char* kQuiet = "/system.slice/quiet.service";

  FakeHost fake_;
  std::unique_ptr<HostRoot> host_;
  std::unique_ptr<EnergySource> source_;
  std::unique_ptr<UsageReader> usage_;
  Attributor attributor_{make_model()};
  Sample sample_;
  const Attribution* result_ = nullptr;
  Nanoseconds now_ = std::chrono::hours(1);
  Nanoseconds asleep_{0};
  FakeCpuTicks ticks_{.user = 100, .idle = 1000, .iowait = 500};
  std::map<std::string, std::int64_t> counters_;
  std::map<std::string, std::int64_t> usages_;  // microseconds
  std::map<pid_t, std::int64_t> times_;         // ticks
};

}  // namespace keplerd
