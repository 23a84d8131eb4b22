// SPDX-License-Identifier: Apache-2.0
// Sums windows that are too short to learn from, until together they are long enough.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "attribution/model/cpu_window.h"
#include "base/units.h"

namespace keplerd {

class ShortWindows {
 public:
  // Adds a window, and then what zones drew in it.
  void add(const CpuWindow& window);
  void add_energy(const std::string& zone, Microjoules energy);
  void clear();

  // Whether they are long enough together.
  bool are_enough() const;

  // Their sum; valid until the next call of add() or clear().
  const CpuWindow& sum();
  // The mean power, in W, of each zone that was added in each of the windows.
  std::map<std::string, double> watts() const;

 private:
  using Workload = std::pair<std::uint64_t, std::size_t>;  // key and class

  std::size_t windows_ = 0;
  double seconds_ = 0;
  std::vector<double> busy_, khz_;  // busy: CPU seconds
  std::vector<CpuSet> classes_;
  std::map<Workload, double> cpu_seconds_;
  struct Drawn {
    Microjoules energy;
    std::size_t windows = 0;
  };
  std::map<std::string, Drawn> drawn_;
  std::vector<ContenderUse> contenders_;
  std::vector<double> shares_;
  CpuWindow sum_;
};

}  // namespace keplerd
