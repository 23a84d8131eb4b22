// SPDX-License-Identifier: Apache-2.0
// Metrics of the platform: Kepler's, with the labels that Kepler gives to the readings of a management
// controller, and ours.
#include <string_view>

#include "exporter/metrics/families.h"

namespace keplerd::exporter {
namespace {

// Of a zone's id, "SOURCE:NAME:INDEX".
std::string_view source_of(std::string_view id) { return id.substr(0, id.find(':')); }
std::string_view index_of_zone(std::string_view id) { return id.substr(id.rfind(':') + 1); }

void write_kepler(const RenderInput& input, const PlatformState& platform, Exposition& out) {
  out.begin({"kepler_platform_watts", kGauge, "watts", "Power of the whole host, by a meter that covers it"});
  if (!platform.all.power) return;
  out.add(label_text({{"source", source_of(platform.id)},
                      {"node_name", input.node_name},
                      {"bmc_id", ""},
                      {"chassis_id", ""},
                      {"power_control_id", index_of_zone(platform.id)},
                      {"power_control_name", platform.name}}),
          platform.all.power->value);
}

void write_rest(const PlatformState& platform, Exposition& out) {
  out.begin(
      {"keplerd_rest_joules", kCounter, "joules",
       "Energy of the platform in addition to packages, DRAM and graphics cards: power supply, fans, disks"});
  if (platform.rest) out.add("", platform.rest->value);
  out.begin({"keplerd_rest_watts", kGauge, "watts",
             "Power of the platform in addition to packages, DRAM and graphics cards: may be negative for a "
             "while"});
  if (platform.rest_power) out.add("", platform.rest_power->value);
}

}  // namespace

void write_platform(const RenderInput& input, Exposition& out) {
  if (!input.snapshot.host() || !input.snapshot.host()->platform) return;
  const PlatformState& platform = *input.snapshot.host()->platform;
  const std::string labels = label_text({{"path", platform.id}});
  write_kepler(input, platform, out);
  out.begin(
      {"keplerd_platform_joules", kCounter, "joules", "Energy of the whole host, by a meter that covers it"});
  out.add(labels, platform.all.energy.value);
  write_rest(platform, out);
  out.begin(
      {"keplerd_platform_age_seconds", kGauge, "seconds", "Age of the last reading of the platform's meter"});
  if (platform.age) out.add(labels, platform.age->count());
  out.begin({"keplerd_platform_lag_seconds", kGauge, "seconds",
             "How far the platform's meter lags behind in addition to the age of its reading, as learned"});
  if (platform.lag) out.add(labels, platform.lag->count());
}

}  // namespace keplerd::exporter
