// SPDX-License-Identifier: Apache-2.0
// The interface io.systemd.Metrics (varlink/io.systemd.Metrics.varlink), by which systemd-report(1)
// collects metrics of services. It may still change in systemd: all that depends on it is in the .cpp
// file.
#pragma once

#include <cstddef>

#include "daemon/publish/reports.h"
#include "varlink/server.h"

namespace keplerd {

// systemd-report accepts at most 4096 metrics, of all services together.
inline constexpr std::size_t kMostUnitMetrics = 1000;
inline constexpr std::size_t kMostVmMetrics = 1000;

// `reports` must outlive the server.
void add_metrics_interface(varlink::Server& server, Reports& reports);

}  // namespace keplerd
