// SPDX-License-Identifier: Apache-2.0
// The interface io.systemd.Metrics (varlink/io.systemd.Metrics.varlink), by which systemd-report(1) collects
// what services count. It still moves in systemd: all that is known of it here is in this file's .cpp.
#pragma once

#include <cstddef>

#include "daemon/publish/reports.h"
#include "varlink/server.h"

namespace keplerd {

// systemd-report takes no more than 4096 metrics, of all services together.
inline constexpr std::size_t kMostUnitMetrics = 1000;
inline constexpr std::size_t kMostVmMetrics = 1000;

// `reports` must outlive the server.
void add_metrics_interface(varlink::Server& server, Reports& reports);

}  // namespace keplerd
