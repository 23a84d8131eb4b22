// SPDX-License-Identifier: Apache-2.0
#include "cli/run/meter.h"

#include <algorithm>

#include "base/text.h"
#include "cli/fields.h"

namespace keplerd::cli::run {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

// For the sample before the command, which waits for it.
constexpr milliseconds kPatienceBefore = 500ms;
// For the one after it: the meter of a guest moves once in ten seconds.
constexpr milliseconds kPatienceAfter = 12s;

}  // namespace

microseconds monotonic_now() {
  return std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now().time_since_epoch());
}

Result<Meter> Meter::open(const std::string& address, bool include_idle) {
  auto daemon = client::Daemon::connect(address);
  if (!daemon) return daemon.error();
  auto status = daemon->status();
  if (!status) return status.error();
  return Meter(address, *std::move(status), include_idle);
}

std::string Meter::problem() const {
  const Json& source = field(status_, "source");
  if (string_field(source, "name").value_or("none") != "none") return {};
  const std::string reason = name_text(source, "reason");
  return "no energy meter can be read" + (reason.empty() ? "" : ": " + reason);
}

bool Meter::has_full_access() const { return field(status_, "accounts").is_object(); }

Result<client::Daemon> Meter::open_stream() const {
  auto stream = client::Daemon::connect(address_);
  if (!stream) return stream.error();
  if (auto started = stream->start_measure(kind_, id_); !started) return started.error();
  return stream;
}

Result<std::optional<Reading>> Meter::reading_that_has_come(client::Daemon& stream) const {
  auto reply = stream.tick_that_has_come();
  if (!reply) return reply.error();
  if (reply->is_null()) return std::optional<Reading>();
  Json row = field(*reply, "row");
  reply->erase("row");
  if (!include_idle_ && row.is_object()) row = active_row(std::move(row));
  return std::optional(Reading{*std::move(reply), std::move(row)});
}

// The first of a sample that was taken at `time` or later; where none comes, the last. An error: none has
// come at all.
Result<Reading> Meter::reading_at(microseconds time, client::Daemon& stream, milliseconds patience,
                                  const Wait& wait) const {
  const microseconds end = monotonic_now() + patience;
  std::optional<Reading> latest;
  for (;;) {
    auto reading = reading_that_has_come(stream);
    if (!reading) return reading.error();
    if (*reading) {
      latest = *std::move(reading);
      if (covers(latest->status, time)) return *std::move(latest);
      continue;
    }
    const auto left = std::chrono::ceil<milliseconds>(end - monotonic_now());
    if (left > 0ms && !wait(stream.fd(), left)) continue;
    if (!latest) return Error{"keplerd does not answer"};
    return *std::move(latest);
  }
}

void Meter::start(client::Kind kind, std::string id, const Wait& wait) {
  kind_ = kind;
  id_ = std::move(id);
  measurement_ = {};
  measurement_.includes_idle = include_idle_;
  measurement_.places_idle = string_field(status_, "idle") != "separate";
  measurement_.before = {status_, Json()};
  // Others would wait for a second, and would see the same in steps of 0.1 J.
  const microseconds time = has_full_access() ? monotonic_now() : microseconds(0);
  auto stream = open_stream();
  if (!stream) return;
  auto reading = reading_at(time, *stream, kPatienceBefore, wait);
  if (!reading) return;
  measurement_.before = *std::move(reading);
  stream_ = *std::move(stream);
}

void Meter::begin(const std::string& cgroup, const Wait& wait) {
  start(client::Kind::kUnits, escape_name(cgroup), wait);
}

void Meter::attach(client::Kind kind, const std::string& id, const Wait& wait) {
  start(kind, id, wait);
  attached_ = true;
  last_ = measurement_.before;
}

void Meter::reconnect() {
  if (stream_) return;
  if (auto stream = open_stream()) stream_ = *std::move(stream);
}

void Meter::notice(const Reading& reading) {
  if (const auto power = integer_field(reading.row, "powerMicrowatts"))
    measurement_.peak = std::max(measurement_.peak.value_or(Microwatts{0}), Microwatts{*power});
}

void Meter::take() {
  while (stream_) {
    auto reading = reading_that_has_come(*stream_);
    if (!reading) {  // keplerd may be back when the command has ended
      stream_.reset();
      measurement_.interrupted = true;
    }
    if (!reading || !*reading) return;
    notice(**reading);
    ended_ = string_field((*reading)->row, "state") != "running";
    if ((*reading)->row.is_object()) last_ = **std::move(reading);
  }
}

Result<Measurement> Meter::end(microseconds ended, const Wait& wait) {
  take();
  auto stream = open_stream();
  if (!stream) return stream.error();
  auto reading = reading_at(ended, *stream, kPatienceAfter, wait);
  if (!reading) return reading.error();
  notice(*reading);
  measurement_.after = *std::move(reading);
  if (attached_ && !measurement_.after.row.is_object()) {
    measurement_.after = last_;
    measurement_.lost = true;
  }
  if (auto daemon = client::Daemon::connect(address_); daemon && !attached_) {
    if (auto processes = daemon->list({client::Kind::kProcesses, std::nullopt, "energy"}))
      measurement_.processes = *std::move(processes);
  }
  stream_.reset();
  return measurement_;
}

}  // namespace keplerd::cli::run
