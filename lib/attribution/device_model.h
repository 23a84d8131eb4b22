// SPDX-License-Identifier: Apache-2.0
// Divides the energy of graphics cards by the time for which their engines worked for processes
// (UsageSample::devices). A card whose use is not known is not divided, and never by CPU time.
//
// Idle is what a card draws while nobody uses it: all of a window without use, else its lowest power in half
// a minute of windows in which its engines worked for less than a fiftieth of the time. Until it is known, it
// is the part of the time in which they did not work. The rest is divided.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attribution/model.h"

namespace keplerd {

// The power of a zone while hardly anybody uses it: the lowest one in the last hour or two of such windows,
// because a card draws more once a display is connected, or its driver keeps it awake. It is that of several
// windows in a row, since the counter of a single one may have been read too early; not of the first ones
// after use, since energy may be later than use.
class IdlePower {
 public:
  static constexpr Nanoseconds kLesson = std::chrono::seconds(30), kAfterUse = std::chrono::seconds(10);
  static constexpr int kFewestWindows = 4;

  // A window in which hardly anybody used it; and one in which somebody did.
  void take(Microjoules energy, Nanoseconds window);
  void interrupt();
  std::optional<double> watts() const;

 private:
  static constexpr double kNone = std::numeric_limits<double>::infinity();

  struct Lesson {
    double microjoules = 0;
    Nanoseconds time{0};
    int windows = 0;
  };
  Lesson lesson_;
  Nanoseconds since_use_ = kAfterUse;
  double lowest_ = kNone, lowest_before_ = kNone;  // in this hour of such windows, and in the one before
  Nanoseconds age_{0};
};

class DeviceModel {
 public:
  // As Model has them.
  void begin(const UsageSample& usage, const Contenders& contenders);
  std::optional<Weighing> weigh(const DrawnEnergy& drawn);

 private:
  struct Weights {
    std::vector<std::int64_t> contenders, process, other;
    std::int64_t nobody = 0;
    Nanoseconds busy{0};  // all together
  };
  static void add(const EngineUse& use, std::size_t first_outside, const std::vector<std::size_t>& outside,
                  Weights& weights);
  Microjoules idle_of(const DrawnEnergy& drawn, Nanoseconds busy);

  Nanoseconds window_{0};
  std::map<std::string, Weights, std::less<>> devices_;  // by address; those of this window
  std::map<std::string, IdlePower> idle_;                // by zone
};

}  // namespace keplerd
