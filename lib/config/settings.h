// SPDX-License-Identifier: Apache-2.0
// What keplerd.conf(5) can say, checked. Everything here has a default; the defaults are what keplerd does
// without a configuration file.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace keplerd {

// How an energy zone's window is split into idle and active; named "auto", "usage-ratio", "baseline".
enum class SplitRule { kAuto, kUsageRatio, kBaseline };
// By what active energy is shared; named "auto", "cpu-time", "learned",
// "instructions", "cycles".
enum class ShareRule { kAuto, kCpuTime, kLearned, kInstructions, kCycles };
// Where idle energy is placed; named "separate", "equal", "size", "usage".
enum class IdlePolicy { kSeparate, kEqual, kSize, kUsage };

// What Public= shows to callers without full access; named "none", "own", "host", "all".
enum class PublicAccess { kNone, kOwn, kHost, kAll };

// As Split=, Share=, Idle= and Public= write them.
std::string_view rule_name(SplitRule rule);
std::string_view rule_name(ShareRule rule);
std::string_view rule_name(IdlePolicy policy);
std::optional<IdlePolicy> parse_idle_policy(std::string_view name);
std::string_view rule_name(PublicAccess access);

// Bounds of Interval= where it is not 0, of UnwatchedInterval= and of Staleness=. Over a span longer than 30
// s the counter of a large machine may wrap unseen.
inline constexpr Nanoseconds kShortestInterval = std::chrono::milliseconds(10);
inline constexpr Nanoseconds kLongestInterval = std::chrono::seconds(30);

// Where a setting was written, "FILE:LINE", for messages: not a part of what is compared.
struct SettingPlace {
  std::string text;
  bool operator==(const SettingPlace&) const { return true; }
};

// One struct a section; each member's comment names its key.
struct EnergySettings {
  std::string source = "auto";     // Source=
  SettingPlace source_place;       // of Source=
  std::vector<std::string> zones;  // Zones=, names separated by blanks or commas; empty: all
  // IdleWatts=, MaxWatts=: what the host draws at no load and at full load. Needed by Source=estimated.
  std::optional<Microwatts> idle_power, max_power;
  std::string guest_meter = "/run/keplerd-meter";  // GuestMeter=; an absolute path

  bool operator==(const EnergySettings&) const = default;
};

struct SamplingSettings {
  Nanoseconds interval = std::chrono::seconds(1);            // Interval=; 0: sample on demand
  Nanoseconds unwatched_interval = std::chrono::seconds(5);  // UnwatchedInterval=
  Nanoseconds staleness = std::chrono::milliseconds(500);    // Staleness=; used where interval is 0

  bool operator==(const SamplingSettings&) const = default;
};

struct AttributionSettings {
  SplitRule split = SplitRule::kAuto;       // Split=
  ShareRule share = ShareRule::kAuto;       // Share=
  IdlePolicy idle = IdlePolicy::kSeparate;  // Idle=
  std::optional<Microwatts> idle_power;     // IdlePower=; unset: it is learned

  bool operator==(const AttributionSettings&) const = default;
};

// How long ended workloads are kept. Unset means no bound ("infinity").
struct WorkloadSettings {
  std::optional<std::size_t> terminated_max = 500;                           // TerminatedMax=
  Microjoules terminated_min_energy{10'000'000};                             // TerminatedMinEnergy=
  std::optional<Nanoseconds> terminated_retention = std::chrono::hours(48);  // TerminatedRetention=
  std::optional<Nanoseconds> vm_retention = std::chrono::hours(24 * 365);    // VmRetention=

  bool operator==(const WorkloadSettings&) const = default;
};

struct AccessSettings {
  PublicAccess public_access = PublicAccess::kOwn;  // Public=

  bool operator==(const AccessSettings&) const = default;
};

// Which virtual machines get a directory with their own energy; by default none.
struct GuestSettings {
  std::vector<std::string> vms;                   // Machines=: UUIDs and other ids, names, or "all"
  bool by_metadata = false;                       // Metadata=: also those whose libvirt metadata ask for it
  std::string directory = "/run/keplerd-guests";  // Directory=; an absolute path

  bool operator==(const GuestSettings&) const = default;
};

// The cgroups for which keplerd-resctrl-groups makes monitoring groups; by default none.
struct ResctrlSettings {
  std::vector<std::string> groups;  // Groups=: patterns of units or paths, or "largest"

  bool operator==(const ResctrlSettings&) const = default;
};

// What keplerd-perf counts.
struct PerfSettings {
  std::vector<std::string> cgroups = {"largest"};  // Cgroups=: as above
  std::size_t descriptors = 4096;                  // Descriptors=: that the counters of all together may take

  bool operator==(const PerfSettings&) const = default;
};

struct Settings {
  EnergySettings energy;
  SamplingSettings sampling;
  AttributionSettings attribution;
  WorkloadSettings workloads;
  AccessSettings access;
  GuestSettings guests;
  ResctrlSettings resctrl;
  PerfSettings perf;

  bool operator==(const Settings&) const = default;
};

}  // namespace keplerd
