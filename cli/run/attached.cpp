// SPDX-License-Identifier: Apache-2.0
#include "cli/run/attached.h"

#include <algorithm>

#include "cli/fields.h"
#include "cli/run/child.h"

namespace keplerd::cli::run {
namespace {

using std::chrono::milliseconds;

// Of one poll.
constexpr milliseconds kLongest = std::chrono::minutes(1);

// Until the end of the row, or of the time, or a signal that asks for it.
void follow(Meter& meter, Signals& signals, std::optional<microseconds> end) {
  while (!meter.has_ended()) {
    milliseconds longest = meter.fd() < 0 ? Meter::kReconnect : kLongest;
    if (end) longest = std::min(longest, std::chrono::ceil<milliseconds>(*end - monotonic_now()));
    if (longest.count() <= 0 || signals.wait_for(meter.fd(), longest)) return;
    meter.reconnect();
    meter.take();
  }
}

microseconds sample_time(const Reading& reading) {
  return microseconds(integer_field(reading.status, "monotonicUsec").value_or(0));
}

}  // namespace

Report measure_attached(Meter& meter, const AttachPlan& plan, const std::function<void()>& begun) {
  Signals signals;
  const auto wait = [&](int fd, milliseconds longest) { return signals.wait_for(fd, longest); };
  CommandRun run;
  run.label = plan.label;
  run.attached = plan.what;
  meter.attach(plan.kind, plan.what.id, wait);
  run.began = monotonic_now();
  begun();
  const auto end =
      plan.span ? std::optional(run.began + std::chrono::ceil<microseconds>(*plan.span)) : std::nullopt;
  follow(meter, signals, end);
  run.ended = monotonic_now();
  run.attached->ended = meter.has_ended();
  const auto measurement = meter.end(run.ended, wait);
  if (!measurement) return unmeasured_report(run, measurement.error().message);
  // The energy is that between two samples: so is the time.
  run.began = sample_time(measurement->before);
  run.ended = sample_time(measurement->after);
  return measured_report(run, *measurement);
}

}  // namespace keplerd::cli::run
