// SPDX-License-Identifier: Apache-2.0
#include "attribution/short_windows.h"

#include <algorithm>

#include "attribution/model/cpu_window.h"

namespace keplerd {

void ShortWindows::add(const CpuWindow& window) {
  if (!std::ranges::equal(window.classes, classes_)) clear();
  classes_.assign(window.classes.begin(), window.classes.end());
  busy_.resize(window.busy.size(), 0);
  khz_.assign(window.khz.begin(), window.khz.end());
  for (std::size_t c = 0; c < busy_.size(); ++c) busy_[c] += window.busy[c] * window.seconds;
  for (const ContenderUse& contender : window.contenders)
    cpu_seconds_[{contender.workload, contender.cpu_class}] += contender.cpu_seconds;
  seconds_ += window.seconds;
  ++windows_;
}

void ShortWindows::add_energy(const std::string& zone, Microjoules energy) {
  Drawn& drawn = drawn_[zone];
  drawn.energy += energy;
  ++drawn.windows;
}

void ShortWindows::clear() { *this = {}; }

bool ShortWindows::are_enough() const { return seconds_ >= kShortestWindow; }

const CpuWindow& ShortWindows::sum() {
  shares_.clear();
  for (const double busy : busy_) shares_.push_back(std::min(1.0, busy / seconds_));
  contenders_.clear();
  for (const auto& [workload, cpu_seconds] : cpu_seconds_)
    contenders_.push_back({cpu_seconds, workload.second, workload.first});
  sum_ = {.seconds = seconds_, .busy = shares_, .khz = khz_, .classes = classes_, .contenders = contenders_};
  return sum_;
}

std::map<std::string, double> ShortWindows::watts() const {
  std::map<std::string, double> watts;
  for (const auto& [zone, drawn] : drawn_)
    if (drawn.windows == windows_) watts[zone] = static_cast<double>(drawn.energy.value) / 1e6 / seconds_;
  return watts;
}

}  // namespace keplerd
