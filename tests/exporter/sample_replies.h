// SPDX-License-Identifier: Apache-2.0
// Short replies of Monitor in keplerd's format.
#pragma once

#include <string>

#include "varlink/json.h"

namespace keplerd::exporter {

using varlink::Json;

// `fields` are added to the common fields of a reply, or replace them.
inline Json reply_of(Json rows, Json fields = Json::object()) {
  Json reply = Json::parse(R"({
    "host": {"energyMicrojoules": 20000000, "activeMicrojoules": 5000000, "idleMicrojoules": 15000000,
             "powerMicrowatts": 40000000, "activeMicrowatts": 10000000, "idleMicrowatts": 30000000,
             "windowCpuUsec": 4000000, "windowBusyUsec": 2400000},
    "accounts": {"idle": 15000000, "kernel": 1, "workloads": 4999998, "unattributed": 1},
    "source": {"name": "powercap", "quality": "measured"}, "sequence": 7,
    "realtimeUsec": 1700000000000001, "monotonicUsec": 5, "windowUsec": 1000000, "instanceId": "x",
    "discardedWindows": 2, "missedEnds": 4, "daemonCpuUsec": 1500000})");
  reply["rows"] = std::move(rows);
  for (const auto& [name, value] : fields.items()) reply[name] = value;
  return reply;
}

inline Json zone_row(const std::string& name, int index = 0) {
  return {{"id", "powercap:" + name + ":" + std::to_string(index)},
          {"name", name},
          {"kind", "zone"},
          {"state", "running"},
          {"index", index},
          {"quality", "measured"},
          {"inTotal", true},
          {"energyMicrojoules", 20'000'000},
          {"activeMicrojoules", 5'000'000},
          {"idleMicrojoules", 15'000'000},
          {"powerMicrowatts", 40'000'000},
          {"activeMicrowatts", 10'000'000},
          {"idleMicrowatts", 30'000'000}};
}

// A workload with one zone, which accounts for all its energy.
inline Json workload_row(const std::string& kind, const std::string& id, std::int64_t energy,
                         Json fields = Json::object()) {
  Json zones = Json::array();
  zones.push_back({{"id", "powercap:package:0"},
                   {"name", "package"},
                   {"index", 0},
                   {"energyMicrojoules", energy},
                   {"powerMicrowatts", energy / 2}});
  Json row = {{"id", id},
              {"name", id},
              {"kind", kind},
              {"state", "running"},
              {"energyMicrojoules", energy},
              {"activeMicrojoules", energy},
              {"idleMicrojoules", 0},
              {"powerMicrowatts", energy / 2},
              {"cpuUsec", 250'000},
              {"zones", std::move(zones)},
              {"quality", "attributed"},
              {"sinceUsec", 1}};
  for (const auto& [name, value] : fields.items()) row[name] = value;
  return row;
}

inline Json process_row(int pid, std::int64_t energy, Json fields = Json::object()) {
  Json row = workload_row("process", std::to_string(pid) + ".100", energy, std::move(fields));
  row["pid"] = pid;
  if (!row.contains("comm")) row["comm"] = "task";
  return row;
}

}  // namespace keplerd::exporter
