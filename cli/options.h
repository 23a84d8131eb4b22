// SPDX-License-Identifier: Apache-2.0
// The parsed and validated command line.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "cli/calibrate/options.h"
#include "cli/fleet/hosts.h"
#include "cli/history/options.h"
#include "cli/output/bar.h"
#include "cli/record/options.h"
#include "cli/run/options.h"
#include "host/host_root.h"

namespace keplerd::cli {

inline constexpr const char* kDefaultAddress = "/run/keplerd/org.keplerd.Energy";

enum class JsonMode { kOff, kShort, kPretty };

// How JSON texts are separated: as a sequence (RFC 7464) by monitor only, by newlines alone, or as a
// sequence.
enum class Framing { kByVerb, kLines, kSequence };

struct Options {
  std::string address = kDefaultAddress;  // --varlink
  std::vector<fleet::Host> hosts;         // --host; empty: this one
  JsonMode json = JsonMode::kOff;         // --json, -j, --output
  Framing framing = Framing::kByVerb;     // --output
  bool csv = false;                       // --output
  BarFormat bar = BarFormat::kNone;       // --output
  bool legend = true;                     // --no-legend
  bool pager = true;                      // --no-pager
  bool full = false;                      // --full: lines may be wider than the terminal
  bool quiet = false;                     // --quiet: no hints
  bool wall = false;                      // --wall: with the power at the plug

  // Lists
  std::optional<std::size_t> limit;  // --limit
  std::string sort;                  // --sort; empty: the default, by power in tables and by energy in JSON
  bool all = false;                  // --all: include ended ones in tables
  bool tree = false;                 // --tree
  std::vector<std::string> types;    // --type, of units; empty: those of is_listed_unit()
  std::string idle;                  // --idle: another idle policy; empty: none

  // monitor
  std::string kind;                     // in org.keplerd.Energy; empty: only the host
  std::optional<std::size_t> count;     // -n
  std::optional<Nanoseconds> interval;  // --interval
  std::string of;                       // --of: what a status bar shows; empty: the host

  std::string id;  // show

  // doctor
  HostPaths host;       // --sysfs, --procfs, --cgroupfs
  std::string capture;  // --capture; empty: no file is written

  run::RunOptions run;
  record::RecordOptions record;
  calibrate::CalibrateOptions calibrate;
  history::HistoryOptions history;
};

}  // namespace keplerd::cli
