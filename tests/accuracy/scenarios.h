// SPDX-License-Identifier: Apache-2.0
// The hosts by which the division of energy is judged.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "accuracy/host.h"
#include "accuracy/simulated_host.h"

namespace keplerd::accuracy {

struct Options {
  Law law;
  std::uint64_t seed = 1;
  double seconds = 3600;  // for how long the host will run
  bool starts_idle =
      true;  // all workloads pause for the first two minutes, where the scenario has such a pause
};

struct Scenario {
  std::string_view name;
  std::unique_ptr<Host> (*create)(const Options& options);
  bool idle_once = true;          // whether the host is idle at its start, if asked to be
  std::string_view watched = {};  // the workloads whose names begin so: their bias is of interest
};

std::span<const Scenario> scenarios();

// Hosts whose loads are chosen to fool a model that learns the power of each workload.
std::span<const Scenario> adversaries();

// A host of which nothing is fixed but the seed: its processors, its law (not that of `options`), its
// workloads and how busy they are.
std::unique_ptr<Host> random_host(const Options& options);

// Other laws than the first, by which the model was made: "linear", "cubic", "fixed", "server", "alike".
struct NamedLaw {
  std::string_view name;
  Law law;
};
std::span<const NamedLaw> laws();  // the first is the usual one

}  // namespace keplerd::accuracy
