// SPDX-License-Identifier: Apache-2.0
// What "keplerctl run" has measured, for the tests of its report.
#pragma once

#include "cli/run/report.h"
#include "cli/sample_replies.h"

namespace keplerd::cli::run {

inline constexpr const char* kUnit = "/user.slice/run.scope";

// The host has drawn 400 J in ten seconds, 100 J of them idle.
inline Json status_at(std::int64_t seconds, bool full = true) {
  Json status = measured_status();
  status["monotonicUsec"] = seconds * 1'000'000;
  status["host"]["energyMicrojoules"] = seconds * 40'000'000;
  status["host"]["activeMicrojoules"] = seconds * 30'000'000;
  status["host"]["idleMicrojoules"] = seconds * 10'000'000;
  if (!full) status.erase("accounts");
  return status;
}

inline Json unit_row(std::int64_t energy) {
  return {{"id", kUnit},
          {"energyMicrojoules", energy},
          {"activeMicrojoules", energy},
          {"idleMicrojoules", 0},
          {"cpuUsec", energy / 20},
          {"zones",
           {{{"id", "powercap:package:0"}, {"energyMicrojoules", energy - energy / 10}},
            {{"id", "powercap:dram:0"}, {"energyMicrojoules", energy / 10}}}}};
}

inline Json process_row(const char* comm, const char* unit, std::int64_t energy) {
  return {{"id", "1.2"},
          {"pid", 4711},
          {"comm", comm},
          {"unit", unit},
          {"state", "running"},
          {"energyMicrojoules", energy},
          {"unitMicrojoules", energy},
          {"cpuUsec", energy / 20}};
}

// From second 101 to 109, between samples at seconds 100 and 110.
inline CommandRun make_run() {
  CommandRun run;
  run.command = {"make", "-j4"};
  run.began = std::chrono::seconds(101);
  run.ended = std::chrono::seconds(109);
  return run;
}

inline Measurement measurement(std::int64_t energy = 200'000'000) {
  return {{status_at(100), Json()}, {status_at(110), unit_row(energy)}, Microwatts{31'000'000}};
}

inline CommandRun make_attached(bool ended = false) {
  CommandRun run;
  run.began = std::chrono::seconds(100);
  run.ended = std::chrono::seconds(110);
  run.attached = Attached{"unit", kUnit, "unit run.scope", ended};
  return run;
}

}  // namespace keplerd::cli::run
