// SPDX-License-Identifier: Apache-2.0
// Decides when to start and kill keplerd-libvirt. Pure: the caller passes times, of the monotonic
// clock.
#pragma once

#include <optional>

#include "base/units.h"

namespace keplerd {

class HelperPolicy {
 public:
  // libvirt may be slow, but a helper silent for so long hangs: it sends at least one line every 5 s.
  static constexpr Nanoseconds kPatience = std::chrono::seconds(15);
  // Between two starts; doubled with each early end. The first is long enough for a stopping libvirt daemon
  // to be gone: connecting earlier would start it again.
  static constexpr Nanoseconds kFirstPause = std::chrono::seconds(2);
  static constexpr Nanoseconds kLongestPause = std::chrono::seconds(60);

  enum class Action { kNone, kStart, kKill };

  // `wanted`: VMs of libvirt are running, and so is its daemon.
  Action decide(bool wanted, Nanoseconds now) const;

  void started(Nanoseconds now);
  void heard(Nanoseconds now) { heard_ = now; }
  void ended(Nanoseconds now);

 private:
  std::optional<Nanoseconds> started_;  // set while it is running
  Nanoseconds heard_{0};
  std::optional<Nanoseconds> pause_until_;
  Nanoseconds pause_ = kFirstPause;
};

}  // namespace keplerd
