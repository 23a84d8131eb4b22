// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/presence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace keplerd {
namespace {

// Gauss and Legendre's nodes and weights between 0 and 1: exact for polynomials up to degree 7.
constexpr std::array kNodes{0.06943184420297371, 0.33000947820757187, 0.66999052179242813,
                            0.93056815579702629};
constexpr std::array kWeights{0.17392742256872693, 0.32607257743127307, 0.32607257743127307,
                              0.17392742256872693};

// The mean of t^n, where n is 1 with this chance, else 0.
double mean_power(double t, double chance) { return 1 - chance * (1 - t); }

}  // namespace

double presence(double use) { return (1 - std::exp(-use) + std::min(1.0, use)) / 2; }

// The share of one with chance p is p E[1 / (1 + others that are awake)], and the mean of 1 / (1 + n) is the
// integral over t from 0 to 1 of the mean of t^n, which is a product over the others.
void share_presence(std::span<const double> use, std::vector<double>& shares) {
  shares.assign(use.size(), 0);
  std::array<double, kNodes.size()> all{};
  all.fill(1);
  for (std::size_t g = 0; g < use.size(); ++g) {
    if (use[g] <= 0) continue;
    shares[g] = presence(use[g]);
    for (std::size_t k = 0; k < kNodes.size(); ++k) all[k] *= mean_power(kNodes[k], shares[g]);
  }
  for (double& share : shares) {
    double part = 0;  // of one that is awake: the mean of 1 / (1 + others)
    for (std::size_t k = 0; k < kNodes.size(); ++k)
      part += kWeights[k] * all[k] / mean_power(kNodes[k], share);
    share *= part;
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (sum <= 0) return;
  for (double& share : shares) share /= sum;
}

}  // namespace keplerd
