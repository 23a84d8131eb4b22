// SPDX-License-Identifier: Apache-2.0
// The families of metrics, by what they are of. Each writes its own, all of them together.
#pragma once

#include "exporter/metrics/render.h"

namespace keplerd::exporter {

void write_daemon(const RenderInput& input, Exposition& out);    // keplerd itself, and the source
void write_host(const RenderInput& input, Exposition& out);      // the host, its accounts
void write_node(const RenderInput& input, Exposition& out);      // Kepler's: zones, processors
void write_exporter(const RenderInput& input, Exposition& out);  // what the exporter costs

// Those whose number is bounded. Each returns how many rows were left out.
std::size_t write_units(const RenderInput& input, Exposition& out);
std::size_t write_vms(const RenderInput& input, Exposition& out);
std::size_t write_containers(const RenderInput& input, Exposition& out);
std::size_t write_pods(const RenderInput& input, Exposition& out);
void write_processes(const RenderInput& input, Exposition& out);

// What zones are called where only their sum is known.
inline constexpr std::string_view kAllZones = "total";

inline constexpr std::string_view state_name(bool running) { return running ? "running" : "terminated"; }

}  // namespace keplerd::exporter
