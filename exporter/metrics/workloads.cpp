// SPDX-License-Identifier: Apache-2.0
// Metrics of units, VMs, containers, pods and processes.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "exporter/metrics/families.h"
#include "exporter/metrics/graphics.h"

namespace keplerd::exporter {
namespace {

std::size_t zone_count(const WorkloadRow& row) { return std::max<std::size_t>(row.zones.size(), 1); }

// The rows to include: all, by id, or if they would make more than `most` series, those that used most
// energy. `series`: the number of series per row.
template <class Row, class Series>
std::vector<const Row*> choose(const Rows<Row>& rows, std::size_t most, Series series) {
  std::vector<const Row*> chosen;
  std::size_t count = 0;
  for (const auto& [id, row] : rows) {
    chosen.push_back(&row);
    count += series(row);
  }
  if (count <= most) return chosen;
  std::ranges::sort(chosen, [](const Row* a, const Row* b) {
    if (a->all.energy != b->all.energy) return a->all.energy > b->all.energy;
    return a->id < b->id;
  });
  count = 0;
  const auto end =
      std::ranges::find_if(chosen, [&](const Row* row) { return (count += series(*row)) > most; });
  chosen.erase(end, chosen.end());
  std::ranges::sort(chosen, {}, &Row::id);
  return chosen;
}

// Calls `add` with each energy, its row's labels, and those of its zone.
template <class Add>
void for_each_zone(const std::vector<Labelled>& rows, Add add) {
  static const std::string kOfAllZones = label_text({{"zone", kAllZones}});
  std::map<std::string_view, std::string> zone_labels;
  for (const auto& [row, labels] : rows) {
    if (row->zones.empty()) add(labels, kOfAllZones, row->all);
    for (const auto& [zone, energy] : row->zones) {
      std::string& text = zone_labels[zone];
      if (text.empty()) text = label_text({{"zone", zone}});
      add(labels, text, energy);
    }
  }
}

void write_energy(const std::vector<Labelled>& rows, const Family& joules, const Family& watts,
                  Exposition& out) {
  out.begin(joules);
  for_each_zone(rows, [&out](std::string_view labels, std::string_view zone, const Energy& energy) {
    out.add(labels, zone, energy.energy.value);
  });
  out.begin(watts);
  for_each_zone(rows, [&out](std::string_view labels, std::string_view zone, const Energy& energy) {
    if (energy.power) out.add(labels, zone, energy.power->value);
  });
}

void write_errors(const std::vector<Labelled>& rows, const Family& ratio, Exposition& out) {
  if (std::ranges::none_of(rows, [](const Labelled& one) { return one.row->error.has_value(); })) return;
  out.begin(ratio);
  for (const auto& [row, labels] : rows)
    if (row->error) out.add(labels, *row->error);
}

// "system.slice" for "/system.slice/cron.service": the innermost one above it; the root's is "-.slice".
std::string_view slice_of(std::string_view id) {
  while (true) {
    const auto slash = id.rfind('/');
    if (slash == id.npos || slash == 0) return "-.slice";
    id = id.substr(0, slash);
    if (id.ends_with(".slice")) return id.substr(id.rfind('/') + 1);
  }
}

// Energy, power and error.
std::size_t series_of_others(const WorkloadRow& row) {
  return 2 * (zone_count(row) + row.cards.size()) + (row.error ? 1 : 0);
}
std::size_t series_of_vm(const VmRow& row) { return series_of_others(row) + 1 + row.parts.size(); }
std::size_t series_of_container(const WorkloadRow& row) { return series_of_others(row) + 2; }
std::size_t series_of_pod(const WorkloadRow& row) { return series_of_others(row) + 1; }

void write_vm_info(const std::vector<const VmRow*>& vms, Exposition& out) {
  const auto metadata = [](const VmRow& row, std::string_view name) -> std::string_view {
    const auto found = row.metadata.find(name);
    return found == row.metadata.end() ? std::string_view() : found->second;
  };
  const auto number = [](const std::optional<std::int64_t>& value) {
    return value ? std::to_string(*value) : std::string();
  };
  out.begin({"keplerd_vm", MetricType::kInfo, "", "A virtual machine, with metadata from libvirt"});
  for (const VmRow* row : vms) {
    out.add_count(label_text({{"vm_id", row->id},
                              {"vm_name", row->name},
                              {"title", row->title},
                              {"hypervisor", row->hypervisor},
                              {"state", state_name(row->running)},
                              {"guest_state", row->guest_state},
                              {"vcpus", number(row->vcpus)},
                              {"pid", number(row->pid)},
                              {"unit", row->unit},
                              {"openstack_name", metadata(*row, "openstack.name")},
                              {"openstack_project", metadata(*row, "openstack.project")},
                              {"openstack_user", metadata(*row, "openstack.user")},
                              {"openstack_flavor", metadata(*row, "openstack.flavor")}}),
                  1);
  }
}

void write_vm_parts(const std::vector<const VmRow*>& vms, Exposition& out) {
  out.begin({"keplerd_vm_part_joules", kCounter, "joules",
             "Energy of a virtual machine by virtual CPU, emulator, device threads and helpers"});
  for (const VmRow* row : vms) {
    for (const VmPart& part : row->parts) {
      out.add(label_text({{"vm_id", row->id}, {"vm_name", row->name}, {"part", part.name}}),
              part.energy.value);
    }
  }
}

// The id of the innermost container around `row` (or pod, if `pods`), empty if there is none. Containers may
// be in pods, and pods in containers.
std::string_view around(const RenderInput& input, const ContainerRow& row, bool pods) {
  constexpr int kDeepest = 64;
  const ContainerRow* at = &row;
  for (int depth = 0; depth < kDeepest && !at->parent.empty(); ++depth) {
    const auto container = input.snapshot.containers().find(at->parent);
    const auto pod = input.snapshot.pods().find(at->parent);
    if (pods ? pod != input.snapshot.pods().end() : container != input.snapshot.containers().end()) {
      return at->parent;
    }
    if (container != input.snapshot.containers().end()) {
      at = &container->second;
    } else if (pod != input.snapshot.pods().end()) {
      at = &pod->second;
    } else {
      break;
    }
  }
  return {};
}

// The energy of a container includes that of the containers inside it: a sum over all must leave out those
// that are inside another.
void write_group_info(const RenderInput& input, const std::vector<const ContainerRow*>& rows, bool pods,
                      Exposition& out) {
  if (pods) {
    out.begin({"keplerd_pod", MetricType::kInfo, "", "A pod, and the pod around it"});
  } else {
    out.begin({"keplerd_container", MetricType::kInfo, "", "A container, and the container around it"});
  }
  for (const ContainerRow* row : rows) {
    const std::string_view inside = around(input, *row, pods);
    out.add_count(
        pods ? label_text({{"pod_id", row->id},
                           {"pod_name", row->name},
                           {"pod_namespace", row->name_space},
                           {"inside", inside}})
             : label_text({{"container_id", row->id}, {"container_name", row->name}, {"inside", inside}}),
        1);
  }
}

std::size_t write_group(const RenderInput& input, const Rows<ContainerRow>& rows, bool pods,
                        Exposition& out) {
  const auto chosen = choose(rows, input.most_series_of_kind, pods ? series_of_pod : series_of_container);
  std::vector<Labelled> labelled;
  labelled.reserve(chosen.size());
  for (const ContainerRow* row : chosen) {
    const std::string_view state = state_name(row->running);
    labelled.push_back({row, pods ? label_text({{"node_name", input.node_name},
                                                {"pod_id", row->id},
                                                {"pod_name", row->name},
                                                {"pod_namespace", row->name_space},
                                                {"state", state}})
                                  : label_text({{"node_name", input.node_name},
                                                {"container_id", row->id},
                                                {"container_name", row->name},
                                                {"runtime", row->runtime},
                                                {"state", state},
                                                {"pod_id", row->pod_id}})});
  }
  if (pods) {
    write_energy(labelled, {"kepler_pod_cpu_joules", kCounter, "joules", "Energy of a pod, by energy zone"},
                 {"kepler_pod_cpu_watts", kGauge, "watts", "Power of a pod, by energy zone"}, out);
    write_cards(labelled, kPodCards, out);
    write_errors(labelled, {"keplerd_pod_error_ratio", kGauge, "ratio", "Error of the energy of a pod"}, out);
  } else {
    write_energy(labelled,
                 {"kepler_container_cpu_joules", kCounter, "joules", "Energy of a container, by energy zone"},
                 {"kepler_container_cpu_watts", kGauge, "watts", "Power of a container, by energy zone"},
                 out);
    write_cards(labelled, kContainerCards, out);
    write_errors(labelled,
                 {"keplerd_container_error_ratio", kGauge, "ratio", "Error of the energy of a container"},
                 out);
    out.begin({"kepler_container_cpu_seconds", kCounter, "seconds", "CPU time of a container"});
    for (const ContainerRow* row : chosen) {
      out.add(label_text({{"node_name", input.node_name},
                          {"container_id", row->id},
                          {"container_name", row->name},
                          {"runtime", row->runtime},
                          {"pod_id", row->pod_id}}),
              row->cpu.count());
    }
  }
  write_group_info(input, chosen, pods, out);
  return rows.size() - chosen.size();
}

// The labels of a process without its state, which CPU time does not have.
struct ProcessLabels {
  std::string who, of;
};

ProcessLabels process_labels(const RenderInput& input, const ProcessRow& row) {
  const std::string_view type = !row.vm_id.empty()          ? "vm"
                                : !row.container_id.empty() ? "container"
                                                            : "regular";
  return {label_text({{"node_name", input.node_name},
                      {"pid", std::to_string(row.pid)},
                      {"comm", row.comm},
                      {"exe", row.exe},
                      {"type", type}}),
          label_text({{"container_id", row.container_id}, {"vm_id", row.vm_id}})};
}

ProcessLabels labels_of_others(const RenderInput& input) {
  return {
      label_text(
          {{"node_name", input.node_name}, {"pid", ""}, {"comm", "other"}, {"exe", ""}, {"type", "other"}}),
      label_text({{"container_id", ""}, {"vm_id", ""}})};
}

}  // namespace

std::size_t write_units(const RenderInput& input, Exposition& out) {
  const auto chosen = choose(input.snapshot.units(), input.most_series_of_kind, series_of_others);
  std::vector<Labelled> labelled;
  labelled.reserve(chosen.size());
  for (const UnitRow* row : chosen) {
    labelled.push_back(
        {row, label_text({{"id", row->id}, {"name", row->name}, {"slice", slice_of(row->id)}})});
  }
  write_energy(
      labelled,
      {"keplerd_unit_cpu_joules", kCounter, "joules",
       "Energy of a systemd unit and all below it, by energy zone"},
      {"keplerd_unit_cpu_watts", kGauge, "watts", "Power of a systemd unit and all below it, by energy zone"},
      out);
  write_cards(labelled, kUnitCards, out);
  write_errors(labelled,
               {"keplerd_unit_error_ratio", kGauge, "ratio", "Error of the energy of a systemd unit"}, out);
  return input.snapshot.units().size() - chosen.size();
}

std::size_t write_vms(const RenderInput& input, Exposition& out) {
  const auto chosen = choose(input.snapshot.vms(), input.most_series_of_kind, series_of_vm);
  std::vector<Labelled> labelled;
  labelled.reserve(chosen.size());
  for (const VmRow* row : chosen) {
    labelled.push_back({row, label_text({{"node_name", input.node_name},
                                         {"vm_id", row->id},
                                         {"vm_name", row->name},
                                         {"hypervisor", row->hypervisor},
                                         {"state", state_name(row->running)}})});
  }
  write_energy(labelled,
               {"kepler_vm_cpu_joules", kCounter, "joules", "Energy of a virtual machine, by energy zone"},
               {"kepler_vm_cpu_watts", kGauge, "watts", "Power of a virtual machine, by energy zone"}, out);
  write_cards(labelled, kVmCards, out);
  write_errors(labelled,
               {"keplerd_vm_error_ratio", kGauge, "ratio", "Error of the energy of a virtual machine"}, out);
  write_vm_info(chosen, out);
  write_vm_parts(chosen, out);
  return input.snapshot.vms().size() - chosen.size();
}

std::size_t write_containers(const RenderInput& input, Exposition& out) {
  return write_group(input, input.snapshot.containers(), false, out);
}

std::size_t write_pods(const RenderInput& input, Exposition& out) {
  return write_group(input, input.snapshot.pods(), true, out);
}

void write_processes(const RenderInput& input, Exposition& out) {
  if (input.snapshot.processes().empty()) return;
  std::vector<Labelled> rows;
  std::vector<ProcessLabels> labels_of_rows;
  const auto add = [&](const WorkloadRow& row, ProcessLabels labels) {
    const std::string_view state = state_name(row.running);
    rows.push_back({&row, fmt::format("{},state=\"{}\",{}", labels.who, state, labels.of)});
    labels_of_rows.push_back(std::move(labels));
  };
  for (const ProcessRow* row : input.processes.chosen()) add(*row, process_labels(input, *row));
  if (const WorkloadRow* const others = input.processes.others()) add(*others, labels_of_others(input));
  write_energy(rows, {"kepler_process_cpu_joules", kCounter, "joules", "Energy of a process, by energy zone"},
               {"kepler_process_cpu_watts", kGauge, "watts", "Power of a process, by energy zone"}, out);
  write_cards(rows, kProcessCards, out);
  write_errors(rows, {"keplerd_process_error_ratio", kGauge, "ratio", "Error of the energy of a process"},
               out);
  out.begin({"kepler_process_cpu_seconds", kCounter, "seconds", "CPU time of a process"});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out.add(labels_of_rows[i].who, labels_of_rows[i].of, rows[i].row->cpu.count());
  }
}

}  // namespace keplerd::exporter
