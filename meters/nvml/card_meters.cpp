// SPDX-License-Identifier: Apache-2.0
#include "meters/nvml/card_meters.h"

#include <algorithm>
#include <utility>

#include "base/pci_address.h"

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
                      .boottime = boottime,
                      .device = pci_address(card.bus_id).value_or("")});
  }
  std::ranges::sort(meters, {}, &meters::Meter::name);
  return meters;
}

std::map<std::string, std::string> card_uses(const std::vector<Card>& cards, Nanoseconds elapsed,
                                             const StartOf& start_of, meters::DeviceUses& uses) {
  std::map<std::string, std::string> texts;
  for (const Card& card : cards) {
    const auto address = pci_address(card.bus_id);
    if (!address) continue;
    if (!card.processes) {
      texts[*address] = "unknown " + card.processes.error().message + "\n";
      continue;
    }
    // Several samples of a process are of parts of this time.
    std::map<std::int32_t, std::pair<std::int64_t, std::int64_t>> percents;  // their sum and number
    for (const ProcessSample& sample : *card.processes) {
      auto& [sum, number] = percents[sample.pid];
      sum += sample.percent;
      ++number;
    }
    for (const auto& [pid, percent] : percents)
      uses.add(*address, {pid, start_of(pid)}, elapsed * percent.first / (100 * percent.second));
    texts[*address] = uses.text(*address);
  }
  return texts;
}

}  // namespace keplerd::nvml
