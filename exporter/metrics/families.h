// SPDX-License-Identifier: Apache-2.0
// Writes the families of metrics, grouped by subject. Each function writes complete families.
#pragma once

#include "exporter/metrics/exposition.h"
#include "exporter/metrics/render.h"

namespace keplerd::exporter {

using enum MetricType;

void write_daemon(const RenderInput& input, Exposition& out);    // keplerd itself, and the source
void write_host(const RenderInput& input, Exposition& out);      // the host, its accounts
void write_platform(const RenderInput& input, Exposition& out);  // the host including its power supply
void write_node(const RenderInput& input, Exposition& out);      // Kepler's: zones, processors
void write_rates(const RenderInput& input, Exposition& out);     // what energy costs and emits
void write_budgets(const RenderInput& input, Exposition& out);   // of keplerd-history
void write_exporter(const RenderInput& input, Exposition& out);  // the exporter's own resource usage

// Families with a bounded number of series. Each function returns how many rows were left out.
std::size_t write_units(const RenderInput& input, Exposition& out);
std::size_t write_vms(const RenderInput& input, Exposition& out);
std::size_t write_containers(const RenderInput& input, Exposition& out);
std::size_t write_pods(const RenderInput& input, Exposition& out);
void write_processes(const RenderInput& input, Exposition& out);

// The zone label if only the sum over zones is known.
inline constexpr std::string_view kAllZones = "total";

inline constexpr std::string_view state_name(bool running) { return running ? "running" : "terminated"; }

}  // namespace keplerd::exporter
