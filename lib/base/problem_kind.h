// SPDX-License-Identifier: Apache-2.0
// The ways in which keplerd can fall short of its promises: `kind` of the problems on varlink, and a label of
// the metric keplerd_problem. One list for the code that detects problems and the code that reports them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace keplerd {

enum class ProblemKind {
  kSource,     // there is no energy source
  kZone,       // an energy zone cannot be read
  kPower,      // the host's power is not known
  kState,      // totals are not saved, or would go back after a crash
  kCgroups,    // too many, or too deep
  kProcesses,  // too many
  kLibvirt,    // its helper is not installed
  kWindows,    // energy was not counted, in the last hour
  kClock,      // the time of day was set, in the last hour
  kPlatform,   // the platform's meter contradicts those of its parts
};

// In the order of the enumeration.
inline constexpr std::array<std::string_view, 10> kProblemKinds = {
    "source", "zone", "power", "state", "cgroups", "processes", "libvirt", "windows", "clock", "platform"};

constexpr std::string_view problem_kind_name(ProblemKind kind) {
  return kProblemKinds[static_cast<std::size_t>(kind)];
}

// Unset if it is of a later version.
constexpr std::optional<ProblemKind> find_problem_kind(std::string_view name) {
  const auto* const known = std::ranges::find(kProblemKinds, name);
  if (known == kProblemKinds.end()) return std::nullopt;
  return static_cast<ProblemKind>(known - kProblemKinds.begin());
}

}  // namespace keplerd
