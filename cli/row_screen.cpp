// SPDX-License-Identifier: Apache-2.0
// Displays one row as a list of its properties.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/fields.h"
#include "cli/output/property_list.h"
#include "cli/screens.h"
#include "client/fields.h"
#include "varlink/json.h"

namespace keplerd::cli {
namespace {

struct Label {
  std::string_view field, label;
};

// Unknown fields, of a newer daemon, are shown under their names on the wire.
constexpr std::array<Label, 41> kLabels = {{{"id", "Id"},
                                            {"name", "Name"},
                                            {"kind", "Kind"},
                                            {"state", "State"},
                                            {"energyMicrojoules", "Energy"},
                                            {"activeMicrojoules", "Active energy"},
                                            {"idleMicrojoules", "Idle energy"},
                                            {"powerMicrowatts", "Power"},
                                            {"activeMicrowatts", "Active power"},
                                            {"idleMicrowatts", "Idle power"},
                                            {"wallMicrowatts", "At the plug"},
                                            {"wallQuality", "How known"},
                                            {"cpuUsec", "CPU time"},
                                            {"quality", "Quality"},
                                            {"sinceUsec", "Since"},
                                            {"ownerUid", "Owner's UID"},
                                            {"index", "Index"},
                                            {"inTotal", "In host's total"},
                                            {"problem", "Problem"},
                                            {"undividedReason", "Not divided"},
                                            {"parent", "Parent"},
                                            {"ownMicrojoules", "Own energy"},
                                            {"otherMicrojoules", "Ended or moved"},
                                            {"pid", "PID"},
                                            {"comm", "Command"},
                                            {"exe", "Executable"},
                                            {"unit", "Unit"},
                                            {"unitMicrojoules", "In this unit"},
                                            {"virtualMachineId", "Virtual machine"},
                                            {"containerId", "Container"},
                                            {"podId", "Pod"},
                                            {"namespace", "Namespace"},
                                            {"runtime", "Runtime"},
                                            {"hypervisor", "Hypervisor"},
                                            {"uuid", "UUID"},
                                            {"vcpus", "vCPUs"},
                                            {"title", "Title"},
                                            {"guestState", "Guest state"},
                                            {"haltPollUsec", "Halt polling"},
                                            {"parentMicrojoules", "In this parent"},
                                            {"guestElsewhere", "Guest elsewhere"}}};

std::string label_of(std::string_view name) {
  const auto found = std::find_if(kLabels.begin(), kLabels.end(),
                                  [name](const Label& label) { return label.field == name; });
  return found == kLabels.end() ? printable(name) : std::string(found->label);
}

// Formatted by the unit at the end of the field's name, which this interface uses throughout.
std::string value_text(const Json& row, std::string_view name) {
  const Json& value = field(row, name);
  if (name == "activeMicrojoules") {
    const std::string error = error_text(row);
    return energy_text(row, name) + (error.empty() ? "" : " +-" + error);
  }
  if (name.ends_with("Microjoules")) return energy_text(row, name);
  if (name.ends_with("Microwatts")) return power_text(row, name);
  if (name == "sinceUsec") return date_text(row, name);
  if (name.ends_with("Usec")) return time_text(row, name);
  if (name.ends_with("Percent")) return value.is_number() ? json_line(value) + "%" : "-";
  if (value.is_string()) return name_text(row, name);
  if (name == "guestElsewhere" && value == true) return "yes, this is its device model only";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return printable(json_line(value));
}

std::string zones_text(const Json& row, const TableStyle& style) {
  const auto& zones = client::elements(field(row, "zones"));
  const auto is_counted = [](const Json& zone) { return field(zone, "counted") == true; };
  const bool any_counted = std::ranges::any_of(zones, is_counted);
  std::vector<Column> columns{{"POWER"}, {"ENERGY"}, {"ZONE", Align::kLeft}};
  if (any_counted) columns.push_back({"BY HARDWARE", Align::kLeft});
  Table table(columns);
  for (const Json& zone : zones) {
    std::vector<std::string> cells{power_text(zone, "powerMicrowatts"),
                                   energy_text(zone, "energyMicrojoules"), name_text(zone, "id")};
    if (any_counted) cells.emplace_back(is_counted(zone) ? "counted" : "-");
    table.add_row(std::move(cells));
  }
  return table.empty() ? "" : "\n" + table.text(style);
}

// The parts of a virtual machine.
std::string breakdown_text(const Json& row, const TableStyle& style) {
  const auto whole = integer_field(row, "energyMicrojoules");
  Table table({{"ENERGY"}, {"SHARE"}, {"PART", Align::kLeft}});
  for (const Json& part : field(row, "breakdown")) {
    table.add_row({energy_text(part, "energyMicrojoules"), share_text(part, "energyMicrojoules", whole),
                   name_text(part, "name")});
  }
  return table.empty() ? "" : "\n" + table.text(style);
}

}  // namespace

std::string row_screen(const Json& row, const TableStyle& style) {
  constexpr int kLabelWidth = 16;
  PropertyList properties(kLabelWidth, style);
  for (const auto& [name, value] : row.items()) {
    if (name == "zones" || name == "breakdown" || value.is_null()) continue;
    if (name == "errorMicrojoules" || name == "errorPercent") continue;  // they are with the active energy
    // Metadata.
    if (value.is_object()) {
      for (const auto& [key, part] : value.items()) properties.add(printable(key), value_text(value, key));
      continue;
    }
    properties.add(label_of(name), value_text(row, name));
  }
  return properties.text() + breakdown_text(row, style) + zones_text(row, style);
}

}  // namespace keplerd::cli
