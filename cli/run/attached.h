// SPDX-License-Identifier: Apache-2.0
// Measures what runs already, until it ends, or for a time, or until a signal asks for an end.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/units.h"
#include "cli/run/meter.h"
#include "cli/run/report.h"
#include "client/kinds.h"

namespace keplerd::cli::run {

struct AttachPlan {
  client::Kind kind{};
  Attached what;
  std::string label;
  std::optional<Nanoseconds> span;  // unset: until it ends, or a signal
};

// `begun` is called after the first sample.
Report measure_attached(Meter& meter, const AttachPlan& plan, const std::function<void()>& begun);

}  // namespace keplerd::cli::run
