// SPDX-License-Identifier: Apache-2.0
// Divides the energy of each window (the time between two samples) by the weights of a model. Pure: it sees
// numbers only. For every zone, exactly, to the microjoule and whatever the model says:
//   idle + kernel + sum of all groups' own + sum of processes outside any group + unattributed = the zone's
//   energy own of a group = its processes + its other;   a group = its own + its children
// and who weighs nothing gets nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attribution/apportion.h"
#include "attribution/counter_step.h"
#include "attribution/model.h"
#include "attribution/own_time.h"
#include "attribution/sample.h"
#include "base/units.h"
#include "energy/zone.h"

namespace keplerd {

// One zone's energy of one window and its division; indices are those of the sample.
struct ZoneAttribution {
  StepVerdict verdict = StepVerdict::kCounted;
  bool read =
      false;  // whether an energy is told: not at the first reading, nor where it failed or was discarded
  Nanoseconds span{0};  // between the two readings of this zone: longer than the window after a failure
  Microjoules energy;   // idle + active
  Microjoules idle;
  Microjoules kernel;  // kernel threads outside any group, and interrupts where they are accounted apart
  Microjoules unattributed;        // nobody weighs anything, or the zone is not divided
  std::vector<Microjoules> group;  // own + children
  std::vector<Microjoules> own;
  std::vector<Microjoules> other;    // of own: processes that came, left or ended in the window
  std::vector<Microjoules> process;  // 0 for what is in `kernel`
};

struct Attribution {
  Nanoseconds window{0};                  // since the sample before; 0 at the first
  std::vector<ZoneAttribution> zones;     // in the source's order
  std::vector<Nanoseconds> group_time;    // CPU time in the window, descendants included
  std::vector<Nanoseconds> process_time;  // likewise; 0 where it was not in its group all the time
};

// A counter's value as it was left by an earlier run on the same boot.
struct SavedReading {
  std::string zone;  // id
  Microjoules counter;
  Nanoseconds monotonic{0};
  Nanoseconds boottime{0};
};

class Attributor {
 public:
  explicit Attributor(std::unique_ptr<Model> model);  // not null

  // Divides by another model from the next window on; the zones' baselines stay.
  void set_model(std::unique_ptr<Model> model);

  // Starts over with these zones: their next reading is a baseline. Those in `saved` go on from there
  // instead; what they drew in between is unattributed, because nobody watched who ran.
  void set_zones(std::vector<Zone> zones, std::span<const SavedReading> saved = {});

  // Goes on with the zones that it already has, by id; the next reading of the others is a baseline.
  void change_zones(std::vector<Zone> zones);

  // Divides the window that ends with `sample`. The result is valid until the next call.
  const Attribution& attribute(const Sample& sample);

  // The last good reading of each zone that has one.
  std::vector<SavedReading> last_readings() const;

 private:
  struct Baseline {
    Microjoules counter;
    Nanoseconds monotonic{0};
    Nanoseconds boottime{0};
    CpuTicks ticks;
    bool unwatched = false;  // from an earlier run
  };
  void find_contenders(const UsageSample& usage);
  void measure(std::size_t zone, const Sample& sample);
  void divide(ZoneAttribution& zone, const UsageSample& usage, const Weighing& weighing);
  void divide_groups(ZoneAttribution& zone, const UsageSample& usage, const Weighing& weighing);

  std::unique_ptr<Model> model_;
  std::vector<Zone> zones_;
  std::vector<std::optional<Baseline>> baselines_;
  std::optional<Instant> last_;
  CpuTicks last_ticks_;
  OwnTimes own_times_;
  Apportioner apportioner_;
  Attribution result_;

  // Of this window; all of it is kept for its memory.
  Contenders contenders_;
  std::vector<Nanoseconds> own_;
  std::vector<std::size_t> outside_;
  std::vector<std::vector<std::size_t>> members_;  // a group's processes that ran
  std::vector<std::int64_t> weights_;
  std::vector<Microjoules> shares_;
};

}  // namespace keplerd
