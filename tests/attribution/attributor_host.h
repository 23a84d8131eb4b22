// SPDX-License-Identifier: Apache-2.0
// A host of numbers, and an attributor of its windows.
#pragma once

#include <chrono>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "attribution/attributor.h"
#include "attribution/invariants.h"
#include "attribution/make_model.h"
#include "attribution/number_host.h"

namespace keplerd {

using Energies = std::vector<Microjoules>;

// A host that was sampled once.
class AttributorTest : public testing::Test {
 protected:
  explicit AttributorTest(std::vector<Zone> zones = {package_zone()}) : host(std::move(zones)) {
    attributor.set_zones(host.zones());
  }

  void begin() { attributor.attribute(host.sample()); }

  // The next window, in which the zones are known to have drawn `deltas`.
  const Attribution& window(const Energies& deltas, Nanoseconds after = std::chrono::seconds(1)) {
    sample = host.sample(after);
    const Attribution& result = attributor.attribute(sample);
    expect_invariants(result, sample, deltas);
    return result;
  }

  Microjoules process(const Attribution& result, int process, std::size_t zone = 0) const {
    return result.zones[zone].process[host.process_index(process)];
  }

  NumberHost host;
  Attributor attributor{make_model()};
  Sample sample;
};

class TwoPackages : public AttributorTest {
 protected:
  TwoPackages() : AttributorTest({package_zone(0), package_zone(1), dram_zone(0), dram_zone(1)}) {}
};

}  // namespace keplerd
