// SPDX-License-Identifier: Apache-2.0
// Decides when samples are taken: at the rhythm of Pace, within SampleBudget, and on demand if the last
// report is stale. It is independent of the event loop: its owner calls on_time() at `due`.at, and reads
// `due` again after each call. Times are of CLOCK_MONOTONIC.
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
    Nanoseconds reported{0};  // the time of the last report: an earlier one if the host could not be read
    Nanoseconds cost{0};      // CPU time; without publishing, which has its own limits
  };
  // The functions that it drives.
  struct Host {
    std::function<Nanoseconds()> now;       // CLOCK_MONOTONIC
    std::function<Nanoseconds()> realtime;  // CLOCK_REALTIME
    std::function<Sampled()> sample;        // takes a sample and publishes it
    std::function<bool()> may_read_seldom;  // the meter loses nothing by being read rarely
    // Called when samples are skipped because they cost too much, and when that is over.
    std::function<void(bool exceeded)> budget_changed;
  };
  struct Due {
    Nanoseconds at{0};
    bool may_be_late = false;  // nobody is waiting for it
  };

  Sampler(Host host, const SamplingSettings& settings);

  // Takes the first sample, of everything, outside the budget.
  void start();

  // Call it when a sample is due. Exceptions of Host::sample pass through, and the next sample is due one
  // period later.
  void on_time();

  // Takes the last sample of a run.
  void finish() { take(); }

  // Called for callers with full access: takes a sample if the last report is older than it may be, or
  // `lacks` what the caller asks for.
  void refresh(bool lacks = false);

  // Called for any caller that may see processes and asks for them, before refresh(); and whether a sample
  // has to read them all.
  void ask_processes() { pace_.ask_processes(host_.now()); }
  bool wants_processes() const { return pace_.wants_processes(host_.now()); }

  // Called for callers with full access: the next sample is due at once.
  void hurry();

  // Registers a follower, for as long as the result is held.
  std::shared_ptr<const Listener> listen(Listener listener);

  void set(const SamplingSettings& settings);

  const Due& due() const { return due_; }
  Nanoseconds last_tried() const { return tried_; }

  // No sample for so long that something must be stuck.
  bool is_stalled() const;

 private:
  Sampled take();
  void take_within_budget();
  void report_budget(Nanoseconds now);
  void choose_period();
  void replan();
  void align();
  void await_budget();

  Host host_;
  SamplingSettings settings_;
  Pace pace_;
  SampleBudget budget_;
  Nanoseconds period_{0};    // between samples, as last chosen
  Nanoseconds tried_{0};     // when the last sample began
  Nanoseconds ended_{0};     // when it ended
  Nanoseconds reported_{0};  // the time of the last report
  Due due_;
};

}  // namespace keplerd
