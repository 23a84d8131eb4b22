// SPDX-License-Identifier: Apache-2.0
// Chooses the meter: the best one that works, or the one that was asked for.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "energy/cpu/perf_counter.h"
#include "energy/energy_source.h"
#include "energy/guest.h"
#include "energy/source_probe.h"

namespace keplerd {

class HostRoot;

struct SourceChoice {
  std::string source =
      "auto";  // "auto" never takes "estimated" or "simulated": these are only forced by name
  std::vector<std::string> zones;  // names to use, in any case of letters; empty: all
  std::optional<Microwatts> idle_power = {}, max_power = {};  // for "estimated", which needs both
  std::string guest_meter = kDefaultGuestMeter;               // for "guest": its directory
  OpenPerfCounter open_perf_counter = {};                     // unset: the kernel's
};

// The names `source` may have, for the configuration and the command line; "auto" first.
const std::vector<std::string_view>& source_names();

// Fails, with one line for the user, where `name` is not among source_names().
Result<Done> check_source_name(std::string_view name);

// The source, or why there is none (one line for the report's `source.reason`). Cheap enough to be tried
// again every few seconds until a meter appears. One that can be read at once goes before one that cannot.
// `now`: CLOCK_MONOTONIC. `probes`: nothing, or where to append those that were tried.
Result<std::unique_ptr<EnergySource>> select_source(const HostRoot& host, const SourceChoice& choice,
                                                    Nanoseconds now = Nanoseconds{0},
                                                    SourceProbes* probes = nullptr);

// Which of the sources that `choice` allows are looked at; empty: no bound.
struct SourceSearch {
  std::string_view better_than = {};  // those before this one in the order of `auto`
  std::string_view except = {};
  std::string_view only = {};
};

// The best of them of which a zone of the total can be read at once.
Result<std::unique_ptr<EnergySource>> search_source(const HostRoot& host, const SourceChoice& choice,
                                                    const SourceSearch& search, Nanoseconds now,
                                                    SourceProbes* probes = nullptr);

// Whether a zone of the total is among what `source` has just read.
bool reads_total(const EnergySource& source, const ZoneReadings& readings);

// All sources that `auto` knows, in its order, and those only forced by name; whatever `choice.source` is.
SourceProbes probe_sources(const HostRoot& host, const SourceChoice& choice = {});

// What of the host looks like a meter and is none of these sources' zones.
std::vector<LeftOut> left_out(const HostRoot& host);

}  // namespace keplerd
