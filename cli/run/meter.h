// SPDX-License-Identifier: Apache-2.0
// Measures the unit of one run with keplerd, or another row, by org.keplerd.Energy.Measure: a reading before,
// the power at each sample, and a reading after it. A caller with full access gets a sample for each of the
// two; others wait for the next second.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "cli/run/report.h"
#include "client/requests.h"

namespace keplerd::cli::run {

class Meter {
 public:
  // Returns whether to stop waiting; waits for `fd`, or as long as the time given.
  using Wait = std::function<bool(int fd, std::chrono::milliseconds longest)>;

  // An error: keplerd cannot be reached, or does not answer this caller.
  static Result<Meter> open(const std::string& address, bool include_idle);

  // keplerd divides no energy: why not. Empty if it does.
  std::string problem() const;

  // The unit is a cgroup that exists; nothing runs in it yet.
  void begin(const std::string& cgroup, const Wait& wait);
  // The row is one that keplerd has.
  void attach(client::Kind kind, const std::string& id, const Wait& wait);
  // The row of attach() is one of something that has ended, as of the last sample taken.
  bool has_ended() const { return ended_; }

  // Can be read when there has been a sample; -1 if it cannot be followed.
  int fd() const { return stream_ ? stream_->fd() : -1; }
  // Takes what has come.
  void take();
  // Follows keplerd again, if the connection was lost: call it this often.
  static constexpr std::chrono::milliseconds kReconnect = std::chrono::seconds(1);
  void reconnect();

  // Waits for a sample that was taken at `ended` or later. An error: keplerd cannot be reached any more.
  Result<Measurement> end(std::chrono::microseconds ended, const Wait& wait);

 private:
  Meter(std::string address, Json status, bool include_idle)
      : address_(std::move(address)), status_(std::move(status)), include_idle_(include_idle) {}

  bool has_full_access() const;
  void start(client::Kind kind, std::string id, const Wait& wait);
  Result<client::Daemon> open_stream() const;
  Result<std::optional<Reading>> reading_that_has_come(client::Daemon& stream) const;
  Result<Reading> reading_at(std::chrono::microseconds time, client::Daemon& stream,
                             std::chrono::milliseconds patience, const Wait& wait) const;
  void notice(const Reading& reading);

  std::string address_;
  // While it is measured: keplerd keeps the unit's processes for as long.
  std::optional<client::Daemon> stream_;
  Json status_;                // the reply of GetStatus
  bool include_idle_ = false;  // in rows
  client::Kind kind_ = client::Kind::kUnits;
  std::string id_;
  bool attached_ = false, ended_ = false;
  Reading last_ = {};  // of attach(): the last one with a row
  Measurement measurement_;
};

// CLOCK_MONOTONIC.
std::chrono::microseconds monotonic_now();

}  // namespace keplerd::cli::run
