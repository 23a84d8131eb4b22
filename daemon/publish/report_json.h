// SPDX-License-Identifier: Apache-2.0
// A report as the JSON that varlink/org.keplerd.Energy.varlink describes.
#pragma once

#include "config/settings.h"
#include "ledger/report.h"
#include "varlink/json_fwd.h"

namespace keplerd {

// What the replies of GetStatus and Monitor begin with: host, accounts where they are told, source.
varlink::Json beginning_json(const Report& report);

varlink::Json event_json(const VmEvent& event);

// GetStatus's reply.
varlink::Json status_json(const Report& report, const Settings& settings);

varlink::Json row_json(const Report& report, const ZoneReport& zone);
varlink::Json row_json(const Report& report, const UnitRow& unit);
varlink::Json row_json(const Report& report, const VmRow& vm);
varlink::Json row_json(const Report& report, const ContainerRow& container);
varlink::Json row_json(const Report& report, const ProcessRow& process);

}  // namespace keplerd
