// SPDX-License-Identifier: Apache-2.0
// What one run of a command used, from keplerd's replies before and after it. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "cli/output/table.h"
#include "cost/rates.h"
#include "varlink/json.h"

namespace keplerd::cli::run {

using std::chrono::microseconds;
using varlink::Json;

// The host and the unit of the command at one instant.
struct Reading {
  Json status = {};  // the reply of GetStatus or Monitor
  Json row = {};     // of the unit; null if keplerd shows none
};

// A part of the energy: of a zone, or of the programs of one name.
struct Part {
  std::string name;
  Microjoules energy{0};
  microseconds cpu{0};
};

// What is measured if it is not a command.
struct Attached {
  std::string kind, id;     // as in rows: "virtual-machine"
  std::string description;  // "virtual machine web", safe for a terminal
  bool ended = false;       // meanwhile
};

struct Report {
  std::vector<std::string> command;
  std::optional<Attached> attached = {};  // then without a command, its exit status, and programs
  std::string label;
  int exit_status = 0;
  microseconds duration{0};
  // Why nothing was measured, or what is missing. Empty: nothing is.
  std::string problem;

  // Unset: unknown.
  std::optional<Microjoules> energy, active, error;
  std::optional<Microwatts> mean_power, peak_power;
  std::optional<microseconds> cpu;
  // The part of `energy` that is idle, if it was to be included.
  std::optional<Microjoules> idle;
  // The host's: idle energy in the time of the run, and active energy between the two readings.
  std::optional<Microjoules> host_idle, host_active;
  // Differences smaller than this mean nothing.
  Microjoules resolution{0};
  Rates rates = {};  // what its energy costs and emits
  Json source = {};
  std::vector<Part> zones, programs;       // most energy first
  std::optional<Microjoules> other;        // of processes that keplerd does not list
  std::vector<std::string> still_running;  // "sleep (PID 4711)"
};

// What is known without keplerd.
struct CommandRun {
  std::vector<std::string> command;
  std::string label;
  int exit_status = 0;
  microseconds began{0}, ended{0};       // CLOCK_MONOTONIC
  std::optional<microseconds> cpu = {};  // of the command and the children that it has waited for
  std::optional<Attached> attached = {};
};

struct Measurement {
  Reading before, after;
  std::optional<Microwatts> peak;    // the highest power of the unit between two samples
  std::vector<Json> processes = {};  // rows of keplerd, of any unit
  std::int64_t holder = 0;           // the PID of keplerctl's own process in the unit
  std::int64_t command = 0;          // the PID of the command
  bool is_over = false;              // nothing else runs in the unit, even if keplerd still has zombies there
  bool includes_idle = false;        // in the energies and powers of the rows; else they are active_row()s
  bool places_idle = true;           // keplerd does, on workloads
  bool interrupted = false;          // keplerd did not run for some of the time
  bool lost = false;                 // the row was dropped: `after` is the last one with it
};

// Callers without full access get energies in steps of this.
inline constexpr Microjoules kPublicStep{100'000};
// A tick of /proc/stat, by which energy is divided into idle and active: what the host uses in it cannot be
// resolved. (Energy counters move about once a millisecond.)
inline constexpr microseconds kTick{10'000};

// A row of a workload without the idle energy that was placed on it.
Json active_row(Json row);

Report measured_report(const CommandRun& run, const Measurement& measurement);
Report unmeasured_report(const CommandRun& run, std::string problem);

// Whether the energy is large enough for its digits to mean anything.
bool is_resolved(const Report& report);

// Whether the sample of this reply was taken at this time of CLOCK_MONOTONIC, or later.
bool covers(const Json& status, microseconds time);

// The value of "run" in JSON.
Json report_json(const Report& report);

// For people.
std::string report_text(const Report& report, const TableStyle& style = {});

// The labels of this report and of series_text() are aligned.
inline constexpr int kLabelWidth = 16;

// An energy with no more digits than `resolution` allows: "12.3 J", "less than 0.1 J".
std::string resolved_energy(Microjoules energy, Microjoules resolution);

// The command as it can be pasted into a shell, safe for a terminal.
std::string command_line(const std::vector<std::string>& command);

}  // namespace keplerd::cli::run
