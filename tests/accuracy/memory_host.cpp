// SPDX-License-Identifier: Apache-2.0
#include "accuracy/memory_host.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace keplerd::accuracy {
namespace {

constexpr double kChange = 0.5;  // of the rate, up and down

}  // namespace

MemoryHost::MemoryHost(std::unique_ptr<Host> processors, const MemoryLaw& law, std::uint64_t seed)
    : Host(processors->processors(), processors->workloads()),
      host_(std::move(processors)),
      law_(law),
      random_(seed) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> unit;
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    habits_.push_back({.rate = std::exp(law_.rate_sigma * normal(random_)),
                       .cost = std::exp(law_.cost_sigma * normal(random_)),
                       .misses = 1,
                       .period = 60 + 540 * unit(random_),
                       .phase = unit(random_)});
  }
  Random random(seed + 1);  // of its own: what is counted does not change what happens
  for (Habit& habit : habits_) habit.misses = std::exp(law_.miss_sigma * normal(random));
}

const Window& MemoryHost::run(double seconds) {
  window_ = host_->run(seconds);
  double active = 0;
  for (Window::Usage& usage : window_.usage) {
    const Habit& habit = habits_[usage.workload];
    const double turns = window_.start / habit.period + habit.phase;
    const double change = 1 + kChange * std::sin(2 * std::numbers::pi * turns);
    usage.bytes = law_.bytes_per_second * habit.rate * change * usage.cpu_seconds;
    usage.misses = usage.bytes / law_.bytes_per_miss * habit.misses;
    usage.truth = law_.joules_per_byte * habit.cost * usage.bytes;
    active += usage.truth;
  }
  const auto packages = static_cast<double>(window_.energy.size());
  window_.idle = law_.idle * seconds * packages;
  std::normal_distribution<double> noise(1, law_.noise);
  for (double& energy : window_.energy) energy = (window_.idle + active) / packages * noise(random_);
  return window_;
}

}  // namespace keplerd::accuracy
