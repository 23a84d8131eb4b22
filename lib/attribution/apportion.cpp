// SPDX-License-Identifier: Apache-2.0
#include "attribution/apportion.h"

#include <algorithm>
#include <cassert>

namespace keplerd {

void Apportioner::apportion(Microjoules amount, std::span<const std::int64_t> weights,
                            std::span<Microjoules> shares) {
  assert(weights.size() == shares.size() && amount.value >= 0);
  __int128 total = 0;
  for (const std::int64_t weight : weights) {
    assert(weight >= 0);
    total += weight;
  }
  assert(total > 0);

  remainders_.clear();
  Microjoules left = amount;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const __int128 product = static_cast<__int128>(amount.value) * weights[i];
    shares[i] = {static_cast<std::int64_t>(product / total)};
    left -= shares[i];
    if (product % total > 0) remainders_.push_back({product % total, i});
  }

  // The fractions add up to `left` wholes and each is below one, so there are more of them than `left`.
  const auto count = static_cast<std::ptrdiff_t>(left.value);
  assert(count == 0 || count < static_cast<std::ptrdiff_t>(remainders_.size()));
  std::nth_element(remainders_.begin(), remainders_.begin() + count, remainders_.end(),
                   [](const Remainder& a, const Remainder& b) {
                     return a.fraction != b.fraction ? a.fraction > b.fraction : a.index < b.index;
                   });
  for (std::ptrdiff_t i = 0; i < count; ++i)
    shares[remainders_[static_cast<std::size_t>(i)].index] += Microjoules{1};
}

}  // namespace keplerd
