// SPDX-License-Identifier: Apache-2.0
// When samples are taken: in the rhythm of Pace, within SampleBudget, and on demand where the last report is
// stale. It knows no event loop: whoever owns it calls on_time() at `due`.at, and reads `due` again after
// each call. Times are of CLOCK_MONOTONIC.
#pragma once

#include <functional>
#include <memory>

#include "base/units.h"
#include "config/settings.h"
#include "daemon/pace.h"
#include "daemon/sample_budget.h"

namespace keplerd {

class Sampler {
 public:
  struct Sampled {
    Nanoseconds reported{0};  // the time of the last report: an earlier one where the host could not be read
    Nanoseconds cost{0};      // CPU time; without publishing, which has bounds of its own
  };
  // What it drives.
  struct Host {
    std::function<Nanoseconds()> now;       // CLOCK_MONOTONIC
    std::function<Sampled()> sample;        // takes a sample and publishes it
    std::function<bool()> may_read_seldom;  // the meter loses nothing by it
    // Fewer samples are taken than is their rhythm because they cost too much; or no fewer any more.
    std::function<void(bool exceeded)> budget_changed;
  };
  struct Due {
    Nanoseconds at{0};
    bool may_be_late = false;  // nobody is waiting for it
  };

  Sampler(Host host, const SamplingSettings& settings);

  // The first sample, of everything, at no cost.
  void start();

  // To be called when a sample is due. What Host::sample throws comes out of here, and the next is due a
  // period later.
  void on_time();

  // The last sample of a run.
  void finish() { take(); }

  // A caller with full access asks: samples where the last report is older than it may be.
  void refresh();

  // Somebody wants to be sent reports, for as long as the result is held.
  std::shared_ptr<const Listener> listen(Listener listener);

  void set(const SamplingSettings& settings);

  const Due& due() const { return due_; }
  Nanoseconds last_tried() const { return tried_; }

  // Samples have not come for so long that something must be stuck.
  bool is_stalled() const;

 private:
  Sampled take();
  void take_within_budget();
  void report_budget(Nanoseconds now);
  void choose_period();
  void replan();
  void await_budget();

  Host host_;
  SamplingSettings settings_;
  Pace pace_;
  SampleBudget budget_;
  Nanoseconds period_{0};    // from one sample to the next, as last chosen
  Nanoseconds tried_{0};     // when the last sample was begun
  Nanoseconds ended_{0};     // when it ended
  Nanoseconds reported_{0};  // the time of the last report
  Due due_;
};

}  // namespace keplerd
