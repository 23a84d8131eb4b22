// SPDX-License-Identifier: Apache-2.0
// The energy of the whole host, by the best meter that covers it, and the rest: what it draws in addition to
// processors, memory and graphics cards, which have meters of their own (power supply, fans, disks). A meter
// of the platform is late: its reading refers to a time before it is read, and lags behind (lag_estimate.h);
// the rest is computed with what the parts drew at that time. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attribution/attributor.h"
#include "attribution/platform/energy_history.h"
#include "attribution/platform/lag_estimate.h"
#include "attribution/platform/rest_power.h"
#include "attribution/platform/saved_platform.h"
#include "attribution/platform/wall_line.h"
#include "attribution/sample.h"
#include "energy/energy_source.h"
#include "energy/zone.h"

namespace keplerd {

// The platform after a window.
struct PlatformState {
  std::size_t zone = 0;             // its meter
  std::optional<Microwatts> power;  // unset: unknown
  Microjoules rest;                 // counted in this window: not negative, a deficit is carried over
  bool knows_rest = false;          // in this window or before
  // Of the platform's power what its parts do not draw, and half the width of its 95 % interval.
  std::optional<Microwatts> rest_power, rest_error;
  std::optional<Nanoseconds> lag;  // unset: not known
  std::optional<RestPower::Contradiction> contradiction;
  std::optional<WallLine::Fit> wall;     // unset: not calibrated
  std::optional<Microwatts> wall_power;  // by the line, of what the parts draw in this window
};

class Platform {
 public:
  struct Window {
    std::span<const Zone> zones;  // and of each:
    std::span<const ZoneAttribution> energies;
    std::span<const Result<Microjoules>> readings;
    std::span<const std::optional<ReadingAge>> ages;
    Instant at;
  };
  // Unset if no zone measures the platform. A meter is kept until it has not been read for a minute, unless a
  // better one is read.
  std::optional<PlatformState> update(const Window& window);

  std::vector<SavedPlatform> save() const;
  void restore(const std::vector<SavedPlatform>& saved);

 private:
  // What was learned about a meter.
  struct Learned {
    LagEstimate lag;
    WallLine wall;
  };
  void add_parts(const Window& window);
  void examine_psys(const Window& window);
  std::optional<std::size_t> choose(const Window& window);
  void change_meter(const std::string& id);
  void read_meter(const Window& window, std::size_t zone);
  void evaluate(const PlatformStep& step);
  void add_rest(const PlatformStep& step, Nanoseconds lag);
  void lose_power();

  std::vector<std::string> part_ids_;
  std::vector<std::size_t> parts_;  // of the present zones
  Microjoules parts_total_;
  EnergyHistory history_;  // of parts_total_, by CLOCK_BOOTTIME
  std::optional<Microwatts> parts_power_;

  double psys_seconds_ = 0;
  Microjoules psys_energy_, psys_parts_;  // drawn in these
  bool psys_is_less_ = false;             // it does not cover the whole

  std::string meter_;  // id; empty: none
  std::map<std::string, Learned> learned_;
  std::optional<Nanoseconds> last_read_;   // CLOCK_BOOTTIME
  std::optional<Nanoseconds> refers_to_;   // the end of the last step
  Microjoules pending_;                    // counted since then
  std::optional<Microjoules> parts_then_;  // parts_total_ at that time
  Microjoules deficit_;                    // of the rest
  RestPower rest_power_;
  PlatformState state_;
};

}  // namespace keplerd
