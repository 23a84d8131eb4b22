// SPDX-License-Identifier: Apache-2.0
// A report as the JSON that varlink/org.keplerd.Energy.varlink describes.
#pragma once

#include "config/settings.h"
#include "ledger/report.h"
#include "varlink/json.h"

namespace keplerd {

varlink::Json host_json(const HostReport& host);
varlink::Json accounts_json(const AccountsReport& accounts);
varlink::Json source_json(const SourceReport& source);

varlink::Json event_json(const MachineEvent& event);

// GetStatus's reply.
varlink::Json status_json(const Report& report, const Settings& settings);

varlink::Json row_json(const Report& report, const ZoneReport& zone);
varlink::Json row_json(const Report& report, const UnitRow& unit);
varlink::Json row_json(const Report& report, const MachineRow& machine);
varlink::Json row_json(const Report& report, const ContainerRow& container);
varlink::Json row_json(const Report& report, const ProcessRow& process);

}  // namespace keplerd
