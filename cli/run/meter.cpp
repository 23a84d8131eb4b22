// SPDX-License-Identifier: Apache-2.0
#include "cli/run/meter.h"

#include <algorithm>

#include "base/text.h"
#include "cli/fields.h"

namespace keplerd::cli::run {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

// As short as keplerd allows: it then takes a sample at once.
constexpr microseconds kAtOnce = 10ms;
// For the sample before the command, which waits for it.
constexpr milliseconds kPatienceBefore = 500ms;
// For the one after it: the meter of a guest moves once in ten seconds.
constexpr milliseconds kPatienceAfter = 12s;

Json parameters(bool at_once) {
  Json parameters = Json::object();
  if (at_once) parameters["intervalUsec"] = kAtOnce.count();
  return parameters;
}

}  // namespace

microseconds monotonic_now() {
  return std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now().time_since_epoch());
}

Result<Meter> Meter::open(const std::string& address) {
  auto daemon = client::Daemon::connect(address);
  if (!daemon) return daemon.error();
  auto status = daemon->status();
  if (!status) return status.error();
  return Meter(address, *std::move(daemon), *std::move(status));
}

std::string Meter::problem() const {
  const Json& source = field(status_, "source");
  if (string_field(source, "name").value_or("none") != "none") return {};
  const std::string reason = name_text(source, "reason");
  return "no energy meter can be read" + (reason.empty() ? "" : ": " + reason);
}

bool Meter::has_full_access() const { return field(status_, "accounts").is_object(); }

// A null value if keplerd does not show it, or does not answer.
Json Meter::row() {
  if (!daemon_) return {};
  const auto reply = daemon_->get(kind_, id_);
  if (!reply) daemon_.reset();
  return reply && reply->error.empty() ? field(reply->parameters, "row") : Json();
}

Result<Json> Meter::status_after(microseconds time, milliseconds patience, const Wait& wait) {
  auto stream = client::Daemon::connect(address_);
  if (!stream) return stream.error();
  if (auto started = stream->start_monitor(parameters(has_full_access())); !started) return started.error();
  const microseconds end = monotonic_now() + patience;
  Json latest = status_;
  for (;;) {
    auto tick = stream->tick_that_has_come();
    if (!tick) return tick.error();
    if (!tick->is_null()) {
      latest = *std::move(tick);
      if (covers(latest, time)) return latest;
      continue;
    }
    const auto left = std::chrono::ceil<milliseconds>(end - monotonic_now());
    if (left <= 0ms || wait(stream->fd(), left)) return latest;
  }
}

// The row at the sample of the last status, or at a later one, whose status it then has.
Reading Meter::reading() {
  constexpr int kTries = 3;
  Reading reading{status_, row()};
  for (int i = 0; i < kTries && daemon_; ++i) {
    auto status = daemon_->status();
    if (!status) daemon_.reset();
    if (!status || integer_field(*status, "sequence") == integer_field(reading.status, "sequence")) break;
    reading = {*std::move(status), row()};
  }
  return reading;
}

void Meter::start(client::Kind kind, std::string id, const Wait& wait) {
  kind_ = kind;
  id_ = std::move(id);
  // Others would wait for a second, and would see the same in steps of 0.1 J.
  if (has_full_access()) {
    if (auto status = status_after(monotonic_now(), kPatienceBefore, wait)) status_ = *std::move(status);
  } else if (daemon_) {
    if (auto status = daemon_->status()) status_ = *std::move(status);
  }
  measurement_ = {};
}

void Meter::follow() {
  auto stream = client::Daemon::connect(address_);
  if (stream && stream->start_monitor(parameters(false))) stream_ = std::move(*stream);
}

void Meter::begin(const std::string& cgroup, const Wait& wait) {
  start(client::Kind::kUnits, escape_name(cgroup), wait);
  measurement_.before = {status_, row()};
  follow();
}

void Meter::attach(client::Kind kind, const std::string& id, const Wait& wait) {
  start(kind, id, wait);
  attached_ = true;
  measurement_.before = last_ = reading();
  follow();
}

void Meter::reconnect() {
  if (!stream_) follow();
  if (daemon_) return;
  if (auto daemon = client::Daemon::connect(address_)) daemon_ = *std::move(daemon);
}

void Meter::take() {
  Json sample;
  while (stream_) {
    auto tick = stream_->tick_that_has_come();
    if (!tick) stream_.reset();  // keplerd may be back when the command has ended
    if (!tick || tick->is_null()) break;
    sample = *std::move(tick);
  }
  if (sample.is_null()) return;
  Json now = row();
  if (const auto power = integer_field(now, "powerMicrowatts"))
    measurement_.peak = std::max(measurement_.peak.value_or(Microwatts{0}), Microwatts{*power});
  ended_ = daemon_ && string_field(now, "state") != "running";
  if (now.is_object()) last_ = {std::move(sample), std::move(now)};
}

Result<Measurement> Meter::end(microseconds ended, const Wait& wait) {
  take();
  auto status = status_after(ended, kPatienceAfter, wait);
  stream_.reset();
  if (!status) return status.error();
  if (!daemon_) {  // keplerd was restarted
    auto daemon = client::Daemon::connect(address_);
    if (!daemon) return daemon.error();
    daemon_ = *std::move(daemon);
  }
  status_ = *std::move(status);
  measurement_.after = attached_ ? reading() : Reading{status_, row()};
  if (attached_ && daemon_ && !measurement_.after.row.is_object()) {
    measurement_.after = last_;
    measurement_.lost = true;
  }
  if (const auto power = integer_field(measurement_.after.row, "powerMicrowatts"))
    measurement_.peak = std::max(measurement_.peak.value_or(Microwatts{0}), Microwatts{*power});
  if (daemon_ && !attached_) {
    if (auto processes = daemon_->list({client::Kind::kProcesses, std::nullopt, "energy"}))
      measurement_.processes = *std::move(processes);
  }
  return measurement_;
}

}  // namespace keplerd::cli::run
