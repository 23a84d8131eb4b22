// SPDX-License-Identifier: Apache-2.0
// Converts a report, except for its rows, to the JSON described by varlink/org.keplerd.Energy.varlink.
#pragma once

#include "config/settings.h"
#include "report/report.h"
#include "varlink/json_fwd.h"

namespace keplerd {

// The start of the replies of GetStatus and Monitor: host, accounts if known, source, problems if
// any.
varlink::Json beginning_json(const Report& report);

varlink::Json event_json(const VmEvent& event);

// GetStatus's reply.
varlink::Json status_json(const Report& report, const Settings& settings);

}  // namespace keplerd
