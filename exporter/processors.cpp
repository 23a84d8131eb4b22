// SPDX-License-Identifier: Apache-2.0
#include "exporter/processors.h"

#include <array>
#include <utility>

#include "base/parse.h"

namespace keplerd::exporter {

std::vector<Processor> parse_processors(std::string_view cpuinfo) {
  static constexpr std::array<std::pair<std::string_view, std::string Processor::*>, 4> kFields = {
      {{"vendor_id", &Processor::vendor_id},
       {"model name", &Processor::model_name},
       {"physical id", &Processor::physical_id},
       {"core id", &Processor::core_id}}};
  std::vector<Processor> processors;
  while (!cpuinfo.empty()) {
    std::string_view value = take_until(cpuinfo, '\n');
    const std::string_view name = trim(take_until(value, ':'));
    value = trim(value);
    if (name == "processor") {
      // Old ARM kernels have a line "Processor : MODEL", which is not one of these.
      if (parse_number<unsigned>(value)) processors.push_back({.number = std::string(value)});
      continue;
    }
    for (const auto& [known, member] : kFields) {
      if (name == known && !processors.empty()) processors.back().*member = value;
    }
  }
  return processors;
}

}  // namespace keplerd::exporter
