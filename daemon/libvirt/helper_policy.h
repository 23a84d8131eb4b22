// SPDX-License-Identifier: Apache-2.0
// When keplerd-libvirt is started and killed. Pure: times are the caller's, of the monotonic clock.
#pragma once

#include <optional>

#include "base/units.h"

namespace keplerd {

class HelperPolicy {
 public:
  // libvirt may take its time, but one that says nothing for so long hangs; it says something each 5 s.
  static constexpr Nanoseconds kPatience = std::chrono::seconds(15);
  // Between two starts; doubled with each that ended early. The first is long enough for a libvirt daemon
  // that is about to stop to have stopped: connecting would start it again.
  static constexpr Nanoseconds kFirstPause = std::chrono::seconds(2);
  static constexpr Nanoseconds kLongestPause = std::chrono::seconds(60);

  enum class Action { kNone, kStart, kKill };

  // `wanted`: VMs of libvirt's run, and its daemon does.
  Action decide(bool wanted, Nanoseconds now) const;

  void started(Nanoseconds now);
  void heard(Nanoseconds now) { heard_ = now; }
  void ended(Nanoseconds now);

 private:
  std::optional<Nanoseconds> started_;  // it runs
  Nanoseconds heard_{0};
  std::optional<Nanoseconds> pause_until_;
  Nanoseconds pause_ = kFirstPause;
};

}  // namespace keplerd
