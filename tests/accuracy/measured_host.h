// SPDX-License-Identifier: Apache-2.0
// A host that replays the measured power of a real machine (tests/vectors/pairs.json): random segments in
// which it is idle, or one or two programs run. The truth of a pair is the Shapley value of the measured
// powers of both alone and together. The frequency is not part of the figures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "accuracy/host.h"

namespace keplerd::accuracy {

class MeasuredHost final : public Host {
 public:
  // Throws if the file cannot be read.
  MeasuredHost(const std::filesystem::path& pairs, std::uint64_t seed);

  const Window& run(double seconds) override;

 private:
  struct Run {
    std::size_t workload = 0;
    int threads = 0;
    double truth = 0;  // W above idle
  };
  struct Segment {
    std::vector<Run> runs;
    double watts = 0;
  };
  void choose_segment();

  std::vector<Segment> segments_;  // that there are figures of; the first is idle
  Random random_;
  double now_ = 0, segment_ends_ = 0;
  const Segment* segment_ = nullptr;
  double idle_watts_ = 0;
  Window window_;
};

}  // namespace keplerd::accuracy
