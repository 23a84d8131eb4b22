// SPDX-License-Identifier: Apache-2.0
// The options of `keplerctl run`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace keplerd::cli::run {

struct RunOptions {
  std::vector<std::string> command;
  std::string attach;                       // instead of a command: what runs already
  std::optional<Nanoseconds> attached_for;  // unset: until it ends, or a signal

  // The scope. Neither manager: that of the user for users, that of the system for root.
  bool system = false, user = false;
  std::string slice, unit;
  std::vector<std::string> properties;  // valid for parse_property()

  std::size_t repeat = 1, warmup = 0;
  bool wait = false;  // for the scope to be empty
  bool include_idle = false;
  std::string prepare;  // for sh -c, before each run
  Nanoseconds delay{0};

  // Names of files; empty: none.
  std::string report, compare, append, summary;
  std::string cost_config;  // empty: cost.conf
  std::string label;
  std::optional<Microjoules> max_energy;
};

}  // namespace keplerd::cli::run
