// SPDX-License-Identifier: Apache-2.0
// Implements org.keplerd.Energy on varlink (varlink/org.keplerd.Energy.varlink). Everyone may call it; the
// socket identifies the caller, and `reports` decides what that caller sees.
#pragma once

#include "daemon/publish/reports.h"
#include "varlink/server.h"

namespace keplerd {

// Adds the interface to `server`. `reports` must outlive the server. Call server.wake() after each new
// report.
void add_energy_interface(varlink::Server& server, Reports& reports);

}  // namespace keplerd
