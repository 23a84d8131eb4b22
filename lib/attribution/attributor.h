// SPDX-License-Identifier: Apache-2.0
// Divides the energy of each window (the time between two samples) by the weights of a model. Pure: it sees
// numbers only. Whatever the model returns, these hold for every zone, exact to the microjoule:
//   idle + kernel + sum of all groups' own + sum of processes outside any group + unattributed = the zone's
//   energy; own of a group = its processes + its other + put off;   a group = its own + its children
//   put off for a group in windows in which it was behind = late of its processes + late other, when it is no
//   longer
// A contender with weight 0 gets nothing.
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
#include "attribution/deferred_shares.h"
#include "attribution/model.h"
#include "attribution/own_time.h"
#include "attribution/sample.h"
#include "base/units.h"
#include "energy/zone.h"
#include "usage/saved_usage.h"

namespace keplerd {

// One zone's energy of one window and its division; indices are those of the sample.
struct ZoneAttribution {
  StepVerdict verdict = StepVerdict::kCounted;
  bool read =
      false;  // whether the energy is known: not at the first reading, nor when it failed or was discarded
  Nanoseconds span{0};  // between the two readings of this zone: longer than the window after a failure
  Microjoules energy;   // idle + active
  Microjoules idle;
  Microjoules kernel;  // kernel threads outside any group, and interrupts where they are accounted apart
  Microjoules unattributed;        // nobody weighs anything, it is not known who, or the zone is not divided
  std::vector<Microjoules> group;  // own + children
  std::vector<Microjoules> own;
  std::vector<Microjoules> other;    // of own: processes that appeared, left or ended in the window
  std::vector<Microjoules> process;  // 0 for processes counted in `kernel`
  // Of own: divided once the group's processes have been read. 0 unless it is behind.
  std::vector<Microjoules> put_off;
  // The groups of which the hardware counted the use of the zone, which their part follows.
  std::vector<std::size_t> counted;
  // What was put off in earlier windows, of groups that are no longer behind: in all, what of it is their
  // other, and their processes'. Empty if nothing was.
  std::vector<Microjoules> late_group, late_other, late, late_error;
  // Half the width of the 95 % interval of `group` and of `process`: all of it if the model does not know how
  // right it is.
  const std::vector<Microjoules>& group_errors() const { return errors_known ? group_error : group; }
  const std::vector<Microjoules>& process_errors() const { return errors_known ? process_error : process; }

  bool errors_known = false;
  std::vector<Microjoules> group_error, process_error;  // if they are
};

struct Attribution {
  bool bounds_errors = false;           // the rules in force know how right they are
  Nanoseconds window{0};                // since the previous sample; 0 for the first
  std::vector<ZoneAttribution> zones;   // in the source's order
  std::vector<Nanoseconds> group_time;  // CPU time in the window, descendants included
  // Since each was last read: in the window, unless its group was behind before it. 0 unless it was in its
  // group for all that time.
  std::vector<Nanoseconds> process_time;
};

// A counter's value as an earlier run on the same boot left it.
struct SavedReading {
  std::string zone;  // id
  Microjoules counter;
  Nanoseconds monotonic{0};
  Nanoseconds boottime{0};
};

class Attributor {
 public:
  explicit Attributor(std::unique_ptr<Model> model);  // not null

  // Divides by another model from the next window on; the zones' baselines are kept.
  void set_model(std::unique_ptr<Model> model);
  const Model& model() const { return *model_; }
  Model& model() { return *model_; }

  // Starts over with these zones: their next reading is a baseline. Zones in `saved` continue from there
  // instead; what they drew in between is unattributed, because CPU usage was not being observed, unless it
  // is known (resume()).
  void set_zones(std::vector<Zone> zones, std::span<const SavedReading> saved = {});

  // To be called before the first zones are set: the next window begins with the sample that `saved` is of.
  // What zones with a saved reading of that sample drew since is divided like that of any window. What single
  // CPUs did meanwhile is not known.
  void resume(const SavedUsage& saved);

  // Switches to these zones. Those known already (by id) continue; a new zone's next reading is a
  // baseline.
  void change_zones(std::vector<Zone> zones);

  // Forgets the last sample: the next one is like the first.
  void begin() {
    last_.reset();
    deferred_ = {};
  }
  // When the window begins that the next sample ends.
  const std::optional<Instant>& last() const { return last_; }

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
  bool is_watched(const SavedReading& reading) const;
  void find_contenders(const UsageSample& usage);
  void measure(std::size_t zone, const Sample& sample);
  void divide(ZoneAttribution& zone, const UsageSample& usage, const Weighing& weighing);
  void put_off(std::size_t zone, const UsageSample& usage, const Weighing& weighing);
  void divide_groups(ZoneAttribution& zone, const UsageSample& usage, const Weighing& weighing);
  void bound_errors(ZoneAttribution& zone, const UsageSample& usage,
                    std::span<const double> relative_sd) const;

  std::unique_ptr<Model> model_;
  std::vector<Zone> zones_;
  std::vector<std::optional<Baseline>> baselines_;
  std::optional<Instant> last_;
  CpuTicks last_ticks_;
  bool resumed_ = false;  // since then nothing else has been read
  OwnTimes own_times_;
  DeferredShares deferred_;
  Apportioner apportioner_;
  Attribution result_;

  // State of the current window, kept to reuse its memory.
  Contenders contenders_;
  std::vector<Nanoseconds> own_, own_since_;
  std::vector<std::size_t> outside_;
  std::vector<std::uint8_t> used_device_;          // of each process
  std::vector<std::vector<std::size_t>> members_;  // a group's processes that ran or used a device
  std::vector<std::int64_t> weights_;
  std::vector<Microjoules> shares_;
};

}  // namespace keplerd
