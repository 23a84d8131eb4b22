// SPDX-License-Identifier: Apache-2.0
#include "meters/nvml/card_meters.h"

#include <algorithm>

namespace keplerd::nvml {
namespace {

// Bus ids consist of hexadecimal digits, colons and dots; nothing else may become a path.
bool is_bus_id(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF:.") == text.npos && text[0] != '.';
}

}  // namespace

std::vector<meters::Meter> card_meters(const std::vector<Card>& cards, std::int64_t boottime) {
  std::vector<meters::Meter> meters;
  for (const Card& card : cards) {
    if (!is_bus_id(card.bus_id)) continue;
    meters.push_back({.name = card.bus_id,
                      .covers = "gpu",
                      .quality = card.counts_energy ? "measured" : "modelled",
                      .zone = "gpu",
                      .counts_energy = card.counts_energy,
                      .value = card.value,
                      .boottime = boottime});
  }
  std::ranges::sort(meters, {}, &meters::Meter::name);
  return meters;
}

}  // namespace keplerd::nvml
