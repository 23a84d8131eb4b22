// SPDX-License-Identifier: Apache-2.0
// Metrics of keplerd, the host and its zones, and the exporter.
#include <algorithm>
#include <array>
#include <string_view>

#include "base/problem_kind.h"
#include "exporter/metrics/families.h"
#include "exporter/metrics/graphics.h"

namespace keplerd::exporter {
namespace {

void add_power(Exposition& out, std::string_view labels, const Energy& energy) {
  if (energy.power) out.add(labels, energy.power->value);
}

struct NodeFamily {
  Family joules, watts;
  Energy ZoneRow::*of_zone;
  Energy HostState::*of_host;
};
constexpr std::array<NodeFamily, 3> kNodeFamilies = {{
    {{"kepler_node_cpu_joules", kCounter, "joules", "Energy of an energy zone of the host"},
     {"kepler_node_cpu_watts", kGauge, "watts", "Power of an energy zone of the host"},
     &ZoneRow::all,
     &HostState::all},
    {{"kepler_node_cpu_active_joules", kCounter, "joules",
      "Energy of an energy zone of the host that is due to load"},
     {"kepler_node_cpu_active_watts", kGauge, "watts",
      "Power of an energy zone of the host that is due to load"},
     &ZoneRow::active,
     &HostState::active},
    {{"kepler_node_cpu_idle_joules", kCounter, "joules",
      "Energy of an energy zone of the host that is not due to load"},
     {"kepler_node_cpu_idle_watts", kGauge, "watts",
      "Power of an energy zone of the host that is not due to load"},
     &ZoneRow::idle,
     &HostState::idle},
}};

// In Kepler, which is written in Go, the architecture has Go's name (GOARCH). `machine`: that of uname(2).
std::string_view kepler_architecture(std::string_view machine) {
  struct Name {
    std::string_view machine, in_go;
  };
  static constexpr std::array<Name, 8> kOthers = {{{"x86_64", "amd64"},
                                                   {"aarch64", "arm64"},
                                                   {"armv6l", "arm"},
                                                   {"armv7l", "arm"},
                                                   {"armv8l", "arm"},
                                                   {"i586", "386"},
                                                   {"i686", "386"},
                                                   {"loongarch64", "loong64"}}};
  const auto* const other = std::ranges::find(kOthers, machine, &Name::machine);
  return other == kOthers.end() ? machine : other->in_go;
}

std::string zone_labels(const RenderInput& input, const ZoneRow& zone) {
  return label_text({{"node_name", input.node_name}, {"zone", zone.name}, {"path", zone.id}});
}

void write_zones(const RenderInput& input, Exposition& out) {
  for (const NodeFamily& family : kNodeFamilies) {
    out.begin(family.joules);
    for (const auto& [id, zone] : input.snapshot.zones()) {
      out.add(zone_labels(input, zone), (zone.*family.of_zone).energy.value);
    }
    out.begin(family.watts);
    for (const auto& [id, zone] : input.snapshot.zones()) {
      if (zone.running) add_power(out, zone_labels(input, zone), zone.*family.of_zone);
    }
  }
}

// If no zones are known, the host's total takes their place.
void write_total_zone(const RenderInput& input, const HostState& host, Exposition& out) {
  const std::string labels = label_text({{"node_name", input.node_name}, {"zone", kAllZones}, {"path", ""}});
  for (const NodeFamily& family : kNodeFamilies) {
    out.begin(family.joules);
    out.add(labels, (host.*family.of_host).energy.value);
    out.begin(family.watts);
    add_power(out, labels, host.*family.of_host);
  }
}

void write_usage(const RenderInput& input, const HostState& host, Exposition& out) {
  if (!host.busy) return;
  out.begin({"kepler_node_cpu_usage_ratio", kGauge, "ratio",
             "Busy part of the CPU time of the last window, by /proc/stat, from 0 to 1"});
  out.add(label_text({{"node_name", input.node_name}}), *host.busy);
}

void write_processors(const RenderInput& input, Exposition& out) {
  out.begin({"kepler_node_cpu", kInfo, "", "A processor of the host, as /proc/cpuinfo names it"});
  for (const Processor& processor : input.processors) {
    out.add_count(label_text({{"processor", processor.number},
                              {"vendor_id", processor.vendor_id},
                              {"model_name", processor.model_name},
                              {"physical_id", processor.physical_id},
                              {"core_id", processor.core_id}}),
                  1);
  }
}

}  // namespace

void write_daemon(const RenderInput& input, Exposition& out) {
  out.begin({"keplerd_up", kGauge, "", "Whether keplerd answers"});
  out.add_count("", input.up ? 1 : 0);
  out.begin({"keplerd_build", kInfo, "", "The exporter's version"});
  out.add_count(label_text({{"version", input.version}}), 1);
  out.begin({"kepler_build", kInfo, "", "The version of keplerd, as exported by Kepler"});
  out.add_count(label_text({{"arch", kepler_architecture(input.architecture)},
                            {"branch", ""},
                            {"revision", ""},
                            {"version", input.version},
                            {"goversion", ""}}),
                1);
  if (!input.snapshot.host()) return;
  const HostState& host = *input.snapshot.host();
  out.begin({"keplerd_source", kInfo, "", "The meter, and the quality of its measurements"});
  out.add_count(label_text({{"source", host.source}, {"quality", host.quality}}), 1);
  out.begin(
      {"keplerd_sample_timestamp_seconds", kGauge, "seconds", "Time at which the meters were last read"});
  out.add("", host.sampled.count());
  out.begin({"keplerd_problem", kGauge, "", "Number of current problems of keplerd, by kind"});
  std::map<std::string, std::int64_t> problems = host.problems;
  for (const std::string_view kind : kProblemKinds)
    problems.try_emplace(std::string(kind), 0);  // so that alerts see a 0
  for (const auto& [kind, count] : problems) out.add_count(label_text({{"kind", kind}}), count);
  out.begin({"keplerd_discarded_windows", kCounter, "",
             "Windows of a zone whose energy was not counted: implausible, counter reset, or suspend"});
  out.add_count("", host.discarded_windows);
  out.begin({"keplerd_missed_ends", kCounter, "",
             "Cgroups that were removed before their last CPU time could be read: it is in their parents"});
  out.add_count("", host.missed_ends);
  out.begin({"keplerd_cpu_seconds", kCounter, "seconds", "CPU time that keplerd itself has used"});
  out.add("", host.daemon_cpu.count());
}

void write_host(const RenderInput& input, Exposition& out) {
  if (!input.snapshot.host()) return;
  const HostState& host = *input.snapshot.host();
  out.begin({"keplerd_host_joules", kCounter, "joules", "Energy of the host"});
  out.add("", host.all.energy.value);
  out.begin({"keplerd_host_active_joules", kCounter, "joules", "Energy of the host that is due to load"});
  out.add("", host.active.energy.value);
  out.begin({"keplerd_host_idle_joules", kCounter, "joules", "Energy of the host that is not due to load"});
  out.add("", host.idle.energy.value);
  out.begin({"keplerd_host_watts", kGauge, "watts", "Power of the host"});
  add_power(out, "", host.all);
  out.begin({"keplerd_host_active_watts", kGauge, "watts", "Power of the host that is due to load"});
  add_power(out, "", host.active);
  out.begin({"keplerd_host_idle_watts", kGauge, "watts", "Power of the host that is not due to load"});
  add_power(out, "", host.idle);
  out.begin({"keplerd_account_joules", kCounter, "joules",
             "Energy of the host by account: these add up to keplerd_host_joules_total"});
  for (const auto& [account, energy] : host.accounts) {
    out.add(label_text({{"account", account}}), energy.value);
  }
}

void write_rates(const RenderInput& input, Exposition& out) {
  out.begin({"keplerd_energy_price_per_kilowatt_hour", kGauge, "",
             "Price of a kWh, in the currency of the label, as cost.conf sets it"});
  if (input.rates.price) out.add(label_text({{"currency", input.rates.currency}}), input.rates.price->value);
  out.begin({"keplerd_carbon_intensity_grams_per_kilowatt_hour", kGauge, "",
             "Emissions per kWh, in grams of CO2 equivalents, as cost.conf sets them"});
  if (input.rates.carbon) out.add("", input.rates.carbon->value);
}

void write_budgets(const RenderInput& input, Exposition& out) {
  const auto write = [&](const Family& family, Microjoules BudgetRow::*energy) {
    out.begin(family);
    for (const BudgetRow& row : input.budgets)
      out.add(label_text({{"budget", row.budget}, {"subject", row.subject}}), (row.*energy).value);
  };
  write({"keplerd_budget_limit_joules", kGauge, "joules", "Energy of a budget for each period"},
        &BudgetRow::limit);
  write({"keplerd_budget_used_joules", kGauge, "joules",
         "Energy of a budget that is used in the present period"},
        &BudgetRow::used);
}

void write_node(const RenderInput& input, Exposition& out) {
  write_processors(input, out);
  if (!input.snapshot.host()) return;
  write_usage(input, *input.snapshot.host(), out);
  if (input.snapshot.zones().empty()) {
    write_total_zone(input, *input.snapshot.host(), out);
    return;
  }
  write_zones(input, out);
  write_node_cards(input, out);
  out.begin(
      {"keplerd_zone", kInfo, "", "An energy zone, its quality, and whether it is part of the host's total"});
  for (const auto& [id, zone] : input.snapshot.zones()) {
    out.add_count(label_text({{"zone", zone.name},
                              {"path", id},
                              {"index", std::to_string(zone.index)},
                              {"quality", zone.quality},
                              {"in_total", zone.in_total ? "true" : "false"},
                              {"state", state_name(zone.running)}}),
                  1);
  }
}

void write_exporter(const RenderInput& input, Exposition& out) {
  out.begin({"process_cpu_seconds", kCounter, "seconds", "CPU time that the exporter has used"});
  out.add("", input.own.cpu.count());
  out.begin({"process_resident_memory_bytes", kGauge, "bytes", "Memory of the exporter"});
  out.add_count("", input.own.resident_bytes);
  out.begin({"process_start_time_seconds", kGauge, "seconds", "Start time of the exporter"});
  out.add("", input.own.started.count());
}

}  // namespace keplerd::exporter
