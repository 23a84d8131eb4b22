// SPDX-License-Identifier: Apache-2.0
#include "exporter/metrics/graphics.h"

#include <fmt/format.h>

#include "exporter/metrics/families.h"

namespace keplerd::exporter {
namespace {

// By the source of the zone.
std::string_view vendor_of(std::string_view source) {
  if (source == "amdgpu") return "amd";
  if (source == "i915" || source == "xe") return "intel";
  return source;  // "nvidia", and other programs that write meters
}

}  // namespace

std::string card_labels(std::string_view zone) {
  return label_text({{"gpu", zone.substr(zone.rfind(':') + 1)},
                     {"vendor", vendor_of(zone.substr(0, zone.find(':')))},
                     {"path", zone}});
}

void write_node_cards(const RenderInput& input, Exposition& out) {
  const std::string node = label_text({{"node_name", input.node_name}});
  const auto write = [&](const Family& family, auto add) {
    out.begin(family);
    for (const auto& [id, zone] : input.snapshot.zones())
      if (is_card(zone.name)) add(fmt::format("{},{}", node, card_labels(id)), zone);
  };
  const auto add_power = [&](const std::string& labels, const ZoneRow& zone, const Energy& energy) {
    if (zone.running && energy.power) out.add(labels, energy.power->value);
  };
  write({"kepler_node_gpu_joules", kCounter, "joules", "Energy of a graphics card"},
        [&](const std::string& labels, const ZoneRow& zone) { out.add(labels, zone.all.energy.value); });
  write({"kepler_node_gpu_watts", kGauge, "watts", "Power of a graphics card"},
        [&](const std::string& labels, const ZoneRow& zone) { add_power(labels, zone, zone.all); });
  write({"kepler_node_gpu_idle_watts", kGauge, "watts", "Power of a graphics card that is not due to load"},
        [&](const std::string& labels, const ZoneRow& zone) { add_power(labels, zone, zone.idle); });
}

void write_cards(const std::vector<Labelled>& rows, const CardFamilies& families, Exposition& out) {
  out.begin(families.joules);
  for (const auto& [row, labels] : rows) {
    for (const auto& [zone, energy] : row->cards) out.add(labels, card_labels(zone), energy.energy.value);
  }
  out.begin(families.watts);
  for (const auto& [row, labels] : rows) {
    for (const auto& [zone, energy] : row->cards)
      if (energy.power) out.add(labels, card_labels(zone), energy.power->value);
  }
}

}  // namespace keplerd::exporter
