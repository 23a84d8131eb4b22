// SPDX-License-Identifier: Apache-2.0
#include "accuracy/score.h"

#include <algorithm>
#include <cmath>

#include "attribution/model/arithmetic.h"

namespace keplerd::accuracy {
namespace {

constexpr std::size_t kParents = static_cast<std::size_t>(-1);  // all workloads that have a parent, as one
constexpr double kWindow = 10;                                  // s
constexpr double kTooSmall = 1e-4, kWorthNaming = 0.01;         // of the energy

}  // namespace

void Score::add(const Host& host, const Window& window, const Estimate& estimate) {
  for (std::size_t i = 0; i < window.usage.size(); ++i) {
    const Window::Usage& usage = window.usage[i];
    const std::size_t id = host.workloads()[usage.workload].parent.empty() ? usage.workload : kParents;
    for (Sums* sums : {&workloads_[id], &ten_[id]}) {
      sums->estimate += estimate.energy[i];
      sums->truth += usage.truth;
      sums->sd += estimate.energy[i] * estimate.relative_sd[i];  // errors of a model do not average out
    }
  }
  idle_estimate_ += estimate.idle;
  idle_truth_ += window.idle;
  ten_seconds_ += window.seconds;
  if (ten_seconds_ >= kWindow - 0.01) end_window();
}

void Score::end_window() {
  for (const auto& [id, sums] : ten_) {
    ten_errors_ += std::abs(sums.estimate - sums.truth);
    ten_truth_ += sums.truth;
  }
  ten_.clear();
  ten_seconds_ = 0;
}

double Score::all_truth() const {
  double truth = 0;
  for (const auto& [id, sums] : workloads_) truth += sums.truth;
  return truth;
}

double Score::error() const {
  double errors = 0;
  for (const auto& [id, sums] : workloads_) errors += std::abs(sums.estimate - sums.truth);
  return 100 * errors / all_truth();
}

double Score::error_of_windows() const { return 100 * ten_errors_ / ten_truth_; }

double Score::bias(std::size_t workload) const {
  const Sums& sums = workloads_.at(workload);
  return 100 * (sums.estimate - sums.truth) / sums.truth;
}

double Score::worst() const {
  const double all = all_truth();
  double worst = 0;
  for (const auto& [id, sums] : workloads_)
    if (sums.truth >= kWorthNaming * all)
      worst = std::max(worst, std::abs(sums.estimate - sums.truth) / sums.truth);
  return 100 * worst;
}

double Score::covered() const {
  const double all = all_truth();
  double covered = 0, count = 0;
  for (const auto& [id, sums] : workloads_) {
    if (sums.truth < kTooSmall * all) continue;
    count += 1;
    if (std::abs(sums.estimate - sums.truth) <= kNormal95 * sums.sd) covered += 1;
  }
  return 100 * covered / count;
}

double Score::half_width() const {
  double width = 0, energy = 0;
  for (const auto& [id, sums] : workloads_) {
    width += kNormal95 * sums.sd;
    energy += sums.estimate;
  }
  return 100 * width / energy;
}

double Score::idle_error() const { return 100 * (idle_estimate_ / idle_truth_ - 1); }

}  // namespace keplerd::accuracy
