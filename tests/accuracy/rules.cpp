// SPDX-License-Identifier: Apache-2.0
#include "accuracy/rules.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>

namespace keplerd::accuracy {
namespace {

constexpr double kYoung = 60;  // s, in which a workload counts for its parent

CpuTopology topology_of(const Processors& processors) {
  CpuTopology topology;
  for (int cpu = 0; cpu < processors.cpus(); ++cpu)
    topology.core.push_back(static_cast<std::size_t>(processors.core_of(cpu)));
  return topology;
}

}  // namespace

std::string_view rule_name(Rule rule) {
  constexpr std::array<std::string_view, 4> kNames{"usage ratio", "floor x CPU", "learned", "no frequency"};
  return kNames[static_cast<std::size_t>(rule)];
}

Divider::Divider(Rule rule, const Host& host)
    : rule_(rule),
      host_(host),
      placement_(topology_of(host.processors())),
      package_cpus_(static_cast<std::size_t>(host.processors().packages)),
      zones_(package_cpus_.size()),
      unread_(static_cast<std::size_t>(host.processors().cpus()), 0) {
  for (int cpu = 0; cpu < host.processors().cpus(); ++cpu)
    package_cpus_[static_cast<std::size_t>(host.processors().package_of(cpu))].push_back(
        static_cast<std::size_t>(cpu));
  classes_.emplace_back(unread_.size(), std::uint8_t{1});
  for (const Workload& workload : host.workloads()) {
    if (!workload.parent.empty()) parents_.emplace(workload.parent, parents_.size() + 1);
  }
}

std::size_t Divider::class_of(const Workload& workload) {
  if (workload.cpus.empty()) return 0;
  const auto [found, is_new] = class_ids_.emplace(workload.cpus, classes_.size());
  if (is_new) {
    CpuSet& set = classes_.emplace_back(unread_.size(), std::uint8_t{0});
    for (const int cpu : workload.cpus) set[static_cast<std::size_t>(cpu)] = 1;
  }
  return found->second;
}

void Divider::prepare(const Window& window) {
  contenders_.clear();
  used_ = 0;
  for (const Window::Usage& usage : window.usage) {
    const Workload& workload = host_.workloads()[usage.workload];
    const bool young = !workload.parent.empty() && window.start - workload.born < kYoung;
    const std::uint64_t id =
        young ? parents_.find(workload.parent)->second : parents_.size() + 1 + usage.workload;
    contenders_.push_back({usage.cpu_seconds, class_of(workload), id});
    used_ += usage.cpu_seconds;
  }
  cpu_window_ = {.seconds = window.seconds,
                 .busy = window.busy,
                 .khz = rule_ == Rule::kNoFrequency ? unread_ : window.khz,
                 .classes = classes_,
                 .contenders = contenders_};
  placement_.place(cpu_window_);
}

void Divider::divide_by_usage(const Window& window) {
  const double busy = std::accumulate(window.busy.begin(), window.busy.end(), 0.0);
  const double drawn = std::accumulate(window.energy.begin(), window.energy.end(), 0.0);
  const double active = used_ > 0 ? drawn * busy / static_cast<double>(window.busy.size()) : 0;
  estimate_.idle = drawn - active;
  for (std::size_t i = 0; i < contenders_.size(); ++i)
    estimate_.energy[i] = used_ > 0 ? active * contenders_[i].cpu_seconds / used_ : 0;
}

void Divider::divide_package(const Window& window, std::size_t package) {
  placement_.view(cpu_window_, package_cpus_[package], activity_);
  const double drawn = window.energy[package];
  const double watts = drawn / window.seconds;
  zones_[package].learn(cpu_window_, activity_, watts);
  const PowerDivision& division = zones_[package].divide(cpu_window_, activity_, watts);
  const double idle = std::min(drawn, division.idle_watts * window.seconds);
  estimate_.idle += idle;
  for (std::size_t i = 0; i < contenders_.size(); ++i) {
    const double share = rule_ != Rule::kFloor ? division.share[i]
                         : used_ > 0           ? contenders_[i].cpu_seconds / used_
                                               : 0;
    const double energy = (drawn - idle) * share;
    estimate_.energy[i] += energy;
    estimate_.relative_sd[i] += energy * division.relative_sd[i];
  }
}

const Estimate& Divider::divide(const Window& window) {
  prepare(window);
  estimate_.idle = 0;
  estimate_.energy.assign(contenders_.size(), 0);
  estimate_.relative_sd.assign(contenders_.size(), 0);
  if (rule_ == Rule::kUsageRatio) {
    divide_by_usage(window);
    return estimate_;
  }
  for (std::size_t package = 0; package < package_cpus_.size(); ++package) divide_package(window, package);
  for (std::size_t i = 0; i < contenders_.size(); ++i)
    estimate_.relative_sd[i] /= std::max(estimate_.energy[i], 1e-12);
  return estimate_;
}

}  // namespace keplerd::accuracy
