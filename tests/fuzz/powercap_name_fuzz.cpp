// SPDX-License-Identifier: Apache-2.0
// Directories and names of powercap zones, one "DIRECTORY NAME RANGE LIMIT" per line. Whatever they are,
// every resulting zone has a unique id, a printable name and no negative number.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>

#include "base/parse.h"
#include "energy/cpu/powercap_zones.h"
#include "energy/cpu/processor.h"
#include "energy/cpu/scmi_zones.h"
#include "energy/simulated.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  keplerd::parse_processor(text);
  if (const auto ticks = keplerd::parse_busy_ticks(text); ticks && *ticks < 0) std::abort();
  if (const auto energy = keplerd::parse_energy_counter(text); energy && energy->value < 0) std::abort();

  std::vector<keplerd::PowercapDirectory> directories;
  while (!text.empty()) {
    auto line = keplerd::take_until(text, '\n');
    keplerd::PowercapDirectory directory;
    directory.name = keplerd::take_word(line);
    directory.zone = keplerd::take_word(line);
    directory.range = keplerd::take_word(line);
    directory.limits.emplace_back(line);
    directories.push_back(std::move(directory));
  }
  for (const auto& zones :
       {keplerd::powercap_zones(directories, {}), keplerd::powercap_zones(directories, {.amd = true}),
        keplerd::scmi_zones(directories)}) {
    std::set<std::string> ids;
    for (const auto& [zone, directory, counts_power] : zones) {
      if (!ids.insert(zone.id).second) std::abort();
      for (const char c : zone.name) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) std::abort();
      }
      if (zone.index < 0 || zone.range.value < 0 || zone.largest_limit.value < 0) std::abort();
    }
  }
  return 0;
}
