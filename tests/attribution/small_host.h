// SPDX-License-Identifier: Apache-2.0
// A host of a few CPUs, as samples of what its services and counters have used.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attribution/attributor.h"
#include "attribution/make_model.h"

namespace keplerd {

inline Zone package(int index = 0) {
  return {
      .id = "powercap:package:" + std::to_string(index), .name = "package", .index = index, .in_total = true};
}

inline Zone memory(int index = 0) {
  return {.id = "powercap:dram:" + std::to_string(index),
          .name = "dram",
          .index = index,
          .in_total = true,
          .resource = Resource::kDram};
}

// Four CPUs, each with a core of its own, in one or two packages, and services; each has used what run() says
// since the last sample.
class SmallHost {
 public:
  explicit SmallHost(std::vector<Zone> zones = {package()}, const ModelRules& rules = {})
      : zones_(std::move(zones)), attributor(make_model(rules)), counters_(zones_.size()) {
    attributor.set_zones(zones_);
  }

  // A service that runs on the CPUs of this package only; with one package, on all.
  std::size_t add(const std::string& path, std::size_t on_package = 0) {
    paths_.push_back(path);
    packages_of_.push_back(on_package);
    used_.emplace_back(0);
    before_.emplace_back();
    usage_.emplace_back(0);
    return paths_.size() - 1;
  }
  void move(std::size_t group, std::size_t to_package) { packages_of_[group] = to_package; }
  void run(std::size_t group, double cpus, Nanoseconds window = std::chrono::seconds(1)) {
    used_[group] = Nanoseconds(std::llround(cpus * static_cast<double>(window.count())));
  }
  void draw(double watts, Nanoseconds window = std::chrono::seconds(1), std::size_t zone = 0) {
    counters_[zone] += Microjoules{std::llround(watts * static_cast<double>(window.count()) / 1e3)};
  }

  const Attribution& sample(Nanoseconds after = std::chrono::seconds(1)) {
    now_ += after;
    sample_ = {};
    sample_.at = {now_, now_, {}};
    for (const Microjoules counter : counters_) sample_.readings.emplace_back(counter);
    std::vector<double> busy(packages);
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      usage_[i] += used_[i];
      busy[packages_of_[i]] += std::chrono::duration<double>(used_[i]).count();
      sample_.usage.groups.push_back({.incarnation = i + 1,
                                      .path = paths_[i],
                                      .usage = usage_[i],
                                      .before = before_[i],
                                      .cpu_class = packages_of_[i]});
      before_[i] = usage_[i];
      used_[i] = Nanoseconds{0};
    }
    if (has_cpus) add_cpus(busy, after);
    return attributor.attribute(sample_);
  }

  bool has_cpus = true;
  std::size_t packages = 1;  // of the same size

 private:
  static constexpr std::size_t kCpus = 4;

  // Fills one CPU of a package after another.
  void add_cpus(const std::vector<double>& busy_seconds, Nanoseconds window) {
    const double seconds = std::chrono::duration<double>(window).count();
    const std::size_t of_package = kCpus / packages;
    sample_.usage.cpu_classes.assign(packages, CpuSet(kCpus, 0));
    for (std::size_t c = 0; c < kCpus; ++c) {
      const std::size_t package = c / of_package;
      const double filled = static_cast<double>(c % of_package) * seconds;
      const double busy = std::clamp(busy_seconds[package] - filled, 0.0, seconds);
      sample_.usage.cpus.push_back({.number = static_cast<int>(c),
                                    .package = static_cast<int>(package),
                                    .die = static_cast<int>(package),
                                    .core = c,
                                    .busy = std::llround(busy * 100),
                                    .total = std::llround(seconds * 100)});
      sample_.usage.ticks.busy = ticks_.busy += std::llround(busy * 100);
      sample_.usage.ticks.idle = ticks_.idle += std::llround((seconds - busy) * 100);
      sample_.usage.cpu_classes[package][c] = 1;
    }
  }

  std::vector<Zone> zones_;

 public:
  Attributor attributor;

 private:
  std::vector<Microjoules> counters_;
  std::vector<std::string> paths_;
  std::vector<std::size_t> packages_of_;
  std::vector<Nanoseconds> used_, usage_;
  std::vector<std::optional<Nanoseconds>> before_;
  CpuTicks ticks_;
  Nanoseconds now_{0};
  Sample sample_;
};

inline double joules(Microjoules energy) { return static_cast<double>(energy.value) / 1e6; }

}  // namespace keplerd
