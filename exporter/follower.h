// SPDX-License-Identifier: Apache-2.0
// Follows keplerd while somebody scrapes: its streams are open until no scrape has come for a while
// (scrape_rhythm.h), so that keplerd can then sample less often. The next scrape opens them again, and waits
// until the numbers are there. So does a scrape while streams are opened again, after a restart of keplerd or
// because one was out of step: no series is missing from one scrape only because it came too early.
//
// The counter of the processes that are not shown (top_processes.h) continues across such a pause: what was
// used meanwhile is counted in it, or in the rows.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <systemd/sd-event.h>

#include "base/result.h"
#include "base/units.h"
#include "client/stream.h"
#include "event/sources.h"
#include "exporter/scrape_rhythm.h"
#include "exporter/snapshot.h"
#include "exporter/ticks.h"
#include "exporter/top_processes.h"

namespace keplerd::exporter {

class Follower {
 public:
  struct Means {
    sd_event* event = nullptr;  // kept referenced by the streams
    std::function<Nanoseconds()> now;
    std::function<void()> arrived;  // is_waiting() has become false
  };

  // `plan` begins with the zones: the host comes with them. `processes`: how many are shown.
  Follower(client::Streams::Plan plan, std::size_t processes, Means means);
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // Opens the streams. is_waiting() is true until the first numbers are there.
  Result<Done> start();

  // Somebody scrapes: opens the streams if they are closed, and waits for rows that are still on their way.
  void scrape();

  // Whether streams have just been opened and the numbers are on their way. Ends when they are there, when
  // keplerd does not answer, and after seven seconds.
  bool is_waiting() const { return waiting_; }

  // Closes the streams if no scrape has come for long enough; called by a timer.
  void close_if_unused();
  bool is_following() const { return streams_ != nullptr; }

  // keplerd answers, or did when the streams were closed or the wait began.
  bool is_up() const { return streams_ && !waiting_ ? streams_->is_up() : was_up_; }

  const Snapshot& snapshot() const { return snapshot_; }
  const TopProcesses& processes() const { return processes_; }

 private:
  Result<Done> open();
  void begin_wait();
  client::Streams::Events events();
  void take(Kind kind, const varlink::Json& reply);
  void report(bool up, const std::string& reason);
  bool is_like_zones(Kind kind) const;
  bool has_any_rows() const;
  bool has_all_rows() const;
  bool has_numbers() const;
  void keep_step();
  void end_wait();

  client::Streams::Plan plan_;
  Means means_;
  Ticks ticks_;
  Snapshot snapshot_;
  TopProcesses processes_;
  ScrapeRhythm rhythm_;
  std::unique_ptr<client::Streams> streams_;
  Timer unused_, longest_wait_;
  Deferred check_;        // outside of the streams' own functions
  std::string instance_;  // of keplerd's totals, when last seen
  std::string reported_;  // the last reason why keplerd does not answer; empty: it does
  bool reported_any_ = false;
  bool waiting_ = false;
  bool waits_for_power_ = false;
  bool may_wait_ = false;  // a stream has been opened again, and no scrape has waited for it yet
  bool decided_ = false;   // whether keplerd can be reached
  bool was_up_ = false;
};

}  // namespace keplerd::exporter
