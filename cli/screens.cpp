// SPDX-License-Identifier: Apache-2.0
#include "cli/screens.h"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/fields.h"
#include "cli/output/column_unit.h"
#include "cli/output/human.h"
#include "cli/output/property_list.h"
#include "cli/output/terminal.h"
#include "cli/wall.h"
#include "varlink/json.h"

namespace keplerd::cli {
namespace {

struct Account {
  const char* field;
  std::string_view meaning;
};
constexpr std::array<Account, 4> kAccounts = {{{"idle", "not due to load"},
                                               {"kernel", "kernel threads and interrupts"},
                                               {"workloads", "units and processes"},
                                               {"unattributed", "not attributable to any process"}}};

// What keplerd has learned about the power of a zone: "powercap:package:0 base, idle 21.3 W +-0.8 W".
std::string model_text(const Json& zone) {
  const Json& model = field(zone, "model");
  const std::string text = name_text(zone, "id") + " " + name_text(model, "state");
  if (!integer_field(model, "idleMicrowatts")) return text;
  return fmt::format("{}, idle {} +-{}", text, power_text(model, "idleMicrowatts"),
                     power_text(model, "idleErrorMicrowatts"));
}

// "0.34 % of a CPU, 2.6 MiB, 12.1 mW, 3.42 J since keplerd started": the known values.
std::string own_cost_text(const Json& status) {
  std::vector<std::string> parts;
  if (const auto percent = own_cpu_percent(status))
    parts.push_back(fmt::format("{:.2f} % of a CPU", *percent));
  if (const auto memory = integer_field(status, "daemonMemoryBytes"))
    parts.push_back(fmt::format("{:.1f} MiB", static_cast<double>(*memory) / (1 << 20)));
  if (const auto power = integer_field(status, "daemonMicrowatts")) parts.push_back(format_power({*power}));
  if (const auto energy = integer_field(status, "daemonMicrojoules"))
    parts.push_back(format_energy({*energy}) + " since keplerd started");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string interval_text(const Json& status) {
  const auto interval = integer_field(status, "intervalUsec");
  if (interval == 0) return "on demand";
  return "every " + time_text(status, "intervalUsec");
}

std::string platform_meter(const Json& platform) {
  return name_text(platform, "id") + ", " + name_text(platform, "quality");
}

// "182 W, 1.20 kWh (ipmi:psu:0, modelled), read 3.00 s ago, lag 4.00 s"
std::string platform_text(const Json& platform) {
  std::string out = fmt::format("{}, {} ({})", power_text(platform, "powerMicrowatts"),
                                energy_text(platform, "energyMicrojoules"), platform_meter(platform));
  if (integer_field(platform, "ageUsec")) out += ", read " + time_text(platform, "ageUsec") + " ago";
  if (integer_field(platform, "lagUsec").value_or(0) > 0) out += ", lag " + time_text(platform, "lagUsec");
  return out;
}

// "62.1 W +-9.00 W, 0.40 kWh (power supply, fans, disks)"
std::string rest_text(const Json& platform) {
  std::string out = signed_power_text(platform, "restMicrowatts");
  if (integer_field(platform, "restErrorMicrowatts"))
    out += " +-" + power_text(platform, "restErrorMicrowatts");
  return out + ", " + energy_text(platform, "restMicrojoules") + " (power supply, fans, disks)";
}

// The accounts and the host in one unit.
ColumnUnit energy_unit(const Json& status) {
  return {Quantity::kEnergy, integer_field(field(status, "host"), "energyMicrojoules").value_or(0)};
}

std::string number_in(const ColumnUnit& unit, const Json& object, std::string_view name) {
  const auto energy = integer_field(object, name);
  return energy ? unit.number(*energy) : "-";
}

std::string energy_in(const ColumnUnit& unit, const Json& object, std::string_view name) {
  const auto energy = integer_field(object, name);
  return energy ? unit.text(*energy) : "-";
}

}  // namespace

std::optional<std::string> source_warning(const Json& status) {
  const Json& source = field(status, "source");
  const std::string quality = name_text(source, "quality");
  if (quality == "simulated") return "SIMULATED: no meter is read, the numbers are invented";
  if (quality == "estimated") {
    const bool is_typical = string_field(source, "reason").has_value();  // not that of this host
    return std::string("ESTIMATED: no meter is read, the numbers are estimated from the CPU load") +
           (is_typical ? " and the typical power of such processors, and may be off by 40 % or more" : "");
  }
  if (!quality.empty() && string_field(source, "name") != "none") return std::nullopt;
  return "NOT MEASURED: no energy meter can be read; 'keplerctl doctor' shows why";
}

std::string source_text(const Json& status) {
  const Json& source = field(status, "source");
  const std::string name = name_text(source, "name");
  const std::string quality = name_text(source, "quality");
  return quality.empty() || quality == name ? name : name + ", " + quality;
}

std::string host_line(const Json& status) {
  if (string_field(field(status, "source"), "name").value_or("none") == "none") return "";
  const Json& host = field(status, "host");
  std::string out = fmt::format("Host {} ({})", power_text(host, "powerMicrowatts"), source_text(status));
  if (integer_field(host, "activeMicrowatts")) {
    out += fmt::format(": {} active, {} idle", power_text(host, "activeMicrowatts"),
                       power_text(host, "idleMicrowatts"));
  }
  return out;
}

std::string platform_line(const Json& status) {
  const Json& platform = field(status, "platform");
  if (!platform.is_object()) return "";
  std::string out =
      fmt::format("Platform {} ({})", power_text(platform, "powerMicrowatts"), platform_meter(platform));
  if (integer_field(platform, "restMicrowatts"))
    out += fmt::format(": {} rest", signed_power_text(platform, "restMicrowatts"));
  return out;
}

std::string source_line(const Json& status, bool colour) {
  const auto warning = source_warning(status);
  const std::string host = host_line(status);
  if (!warning) return host;
  const auto colon = warning->find(':');
  return paint(warning->substr(0, colon), Paint::kWarning, colour) + warning->substr(colon) + "." +
         (host.empty() ? "" : " " + host);
}

std::string screen_head(const Json& status, const TableStyle& style) {
  std::string out = source_line(status, style.bold_header) + "\n";
  if (style.hints && !sees_everything(status)) out += std::string(kPublicView) + "\n";
  return wrap_words(out, style.width) + "\n";
}

bool was_never_measured(const Json& status) {
  return host_line(status).empty() &&
         integer_field(field(status, "host"), "energyMicrojoules").value_or(0) == 0;
}

void remove_energies(std::vector<Json>& rows) {
  for (Json& row : rows) {
    row.erase("energyMicrojoules");
    row.erase("ownMicrojoules");
  }
}

bool sees_everything(const Json& status) { return field(status, "accounts").is_object(); }

std::string accounts_line(const Json& status) {
  const Json& accounts = field(status, "accounts");
  const ColumnUnit unit = energy_unit(status);
  std::string out = energy_in(unit, field(status, "host"), "energyMicrojoules");
  if (!sees_everything(status)) return out;
  out += " =";
  for (const Account& account : kAccounts) {
    const bool first = out.ends_with("=");
    out +=
        fmt::format("{} {} {}", first ? "" : " +", number_in(unit, accounts, account.field), account.field);
  }
  return out;
}

std::string accounts_table(const Json& status, const TableStyle& style) {
  Table table({{"ENERGY"},
               {"SHARE"},
               {"ACCOUNT", Align::kLeft},
               {.header = "DESCRIPTION", .align = Align::kLeft, .gives_way = Keep::kStart, .leaves = 1}});
  const Json& accounts = field(status, "accounts");
  const Json& host = field(status, "host");
  const auto total = integer_field(host, "energyMicrojoules");
  const ColumnUnit unit = energy_unit(status);
  for (const Account& account : kAccounts) {
    table.add_row({energy_in(unit, accounts, account.field), share_text(accounts, account.field, total),
                   account.field, std::string(account.meaning)});
  }
  table.add_row({energy_in(unit, host, "energyMicrojoules"), share_text(host, "energyMicrojoules", total),
                 "host", "total"});
  return table.text(style);
}

std::string status_screen(const Json& status, const TableStyle& style) {
  const Json& host = field(status, "host");
  constexpr int kLabelWidth = 12;
  PropertyList properties(kLabelWidth, style);
  const auto line = [&properties](std::string_view label, std::string_view value) {
    properties.add(label, value);
  };
  const bool share = string_field(field(status, "source"), "name") == "guest";
  line("Source", source_text(status) + (share ? ": the host's share for this virtual machine" : ""));
  // Without a meter, that is a long list of what was tried: doctor's.
  const std::string reason = name_text(field(status, "source"), "reason");
  if (!reason.empty() && !host_line(status).empty()) {
    line("Reason", reason);
  }
  line("Power", power_text(host, "powerMicrowatts"));
  const bool has_energy = !was_never_measured(status);
  line("Energy",
       has_energy ? fmt::format("{} ({} active, {} idle)", energy_text(host, "energyMicrojoules"),
                                energy_text(host, "activeMicrojoules"), energy_text(host, "idleMicrojoules"))
                  : "-");
  const Json& platform = field(status, "platform");
  if (platform.is_object()) line("Platform", platform_text(platform));
  if (integer_field(platform, "restMicrojoules")) line("Rest", rest_text(platform));
  if (field(status, "wall").is_object()) line("At the plug", wall_line_text(field(status, "wall")));
  line("Since", date_text(status, "sinceUsec"));
  line("Sampled", fmt::format("{}, {}, over {}", date_text(status, "realtimeUsec"), interval_text(status),
                              time_text(status, "windowUsec")));
  line("Rules", fmt::format("split {}, share {}, idle {}", name_text(status, "split"),
                            name_text(status, "share"), name_text(status, "idle")));
  for (const Json& zone : field(status, "zones")) line("Model", model_text(zone));
  if (const std::string cost = own_cost_text(status); !cost.empty()) line("Overhead", cost);
  if (const auto discarded = integer_field(status, "discardedWindows"); discarded > 0) {
    line("Discarded", fmt::format("{} windows of a zone (see the journal)", *discarded));
  }
  const std::string out = (style.header ? screen_head(status, style) : "") + properties.text();
  return sees_everything(status) && has_energy ? out + "\n" +
                                                     accounts_table(status, {.header = true,
                                                                             .bold_header = style.bold_header,
                                                                             .width = style.width,
                                                                             .unicode = style.unicode})
                                               : out;
}

}  // namespace keplerd::cli
