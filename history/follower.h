// SPDX-License-Identifier: Apache-2.0
// Follows keplerd: makes a reading of its counters from each minute's reports.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <systemd/sd-event.h>

#include "base/result.h"
#include "client/row_set.h"
#include "client/stream.h"
#include "event/sources.h"
#include "history/reading.h"

namespace keplerd::history {

// The kinds whose energy is recorded; of zones, those that cover the platform.
inline constexpr std::array<Kind, 5> kRecorded = {Kind::kUnits, Kind::kVms, Kind::kContainers, Kind::kPods,
                                                  Kind::kZones};

class Follower {
 public:
  using Take = std::function<void(Reading reading)>;

  struct Target {
    std::string address;                // keplerd's socket
    std::chrono::microseconds pace{0};  // between two readings, which are at multiples of it
    // How long the kinds may be of different samples before all are requested again: a sample that is taken
    // while they are being opened, or answered, would cost a reading.
    std::chrono::milliseconds patience = std::chrono::seconds(5);
  };

  // `event` is kept referenced. `take` gets each reading, `changed` whether keplerd can be reached, and why
  // not.
  Follower(sd_event* event, const Target& target, Take take,
           std::function<void(bool up, const std::string& reason)> changed);

  Result<Done> start();

 private:
  struct Followed {
    client::RowSet rows;
    std::optional<std::int64_t> sequence;  // of the sample that they are all of
  };

  void add(Kind kind, const varlink::Json& reply);
  bool is_whole() const;
  void begin_again();

  sd_event* event_;
  std::chrono::milliseconds patience_;
  Take take_;
  std::array<Followed, kRecorded.size()> kinds_;  // in the order of kRecorded
  client::Streams streams_;
  Timer unequal_;  // runs while the kinds are of different samples
};

// The counters in a reply of Monitor for a caller with full access, without the rows; nothing if keplerd
// sends less.
std::optional<Reading> parse_reading(const varlink::Json& reply);
// Nothing if it has no id, or is a zone that does not cover the platform, or counts into the host's energy.
std::optional<WorkloadReading> parse_workload(Kind kind, const varlink::Json& row);

}  // namespace keplerd::history
