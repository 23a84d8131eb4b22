// SPDX-License-Identifier: Apache-2.0
// Metrics of graphics cards, with the names and labels of Kepler's proposal EP-003, and the ids of zones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exporter/metrics/render.h"

namespace keplerd::exporter {

// `gpu="0",vendor="amd",path="amdgpu:gpu:0"` of the zone "amdgpu:gpu:0".
std::string card_labels(std::string_view zone);

// The cards of the host.
void write_node_cards(const RenderInput& input, Exposition& out);

// A row with its labels except for the zone's, which come last.
struct Labelled {
  const WorkloadRow* row;
  std::string labels;
};

struct CardFamilies {
  Family joules, watts;
};
inline constexpr CardFamilies kUnitCards = {
    {"keplerd_unit_gpu_joules", MetricType::kCounter, "joules",
     "Energy of a graphics card that is due to a systemd unit and all below it"},
    {"keplerd_unit_gpu_watts", MetricType::kGauge, "watts",
     "Power of a graphics card that is due to a systemd unit and all below it"}};
inline constexpr CardFamilies kVmCards = {{"kepler_vm_gpu_joules", MetricType::kCounter, "joules",
                                           "Energy of a graphics card that is due to a virtual machine"},
                                          {"kepler_vm_gpu_watts", MetricType::kGauge, "watts",
                                           "Power of a graphics card that is due to a virtual machine"}};
inline constexpr CardFamilies kContainerCards = {
    {"kepler_container_gpu_joules", MetricType::kCounter, "joules",
     "Energy of a graphics card that is due to a container"},
    {"kepler_container_gpu_watts", MetricType::kGauge, "watts",
     "Power of a graphics card that is due to a container"}};
inline constexpr CardFamilies kPodCards = {
    {"kepler_pod_gpu_joules", MetricType::kCounter, "joules",
     "Energy of a graphics card that is due to a pod"},
    {"kepler_pod_gpu_watts", MetricType::kGauge, "watts", "Power of a graphics card that is due to a pod"}};
inline constexpr CardFamilies kProcessCards = {{"kepler_process_gpu_joules", MetricType::kCounter, "joules",
                                                "Energy of a graphics card that is due to a process"},
                                               {"kepler_process_gpu_watts", MetricType::kGauge, "watts",
                                                "Power of a graphics card that is due to a process"}};

// The rows' parts of the cards that worked for them.
void write_cards(const std::vector<Labelled>& rows, const CardFamilies& families, Exposition& out);

}  // namespace keplerd::exporter
