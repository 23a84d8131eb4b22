// SPDX-License-Identifier: Apache-2.0
// Selects the meter: the best one that works, or the one that was requested.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "energy/energy_source.h"
#include "energy/guest.h"
#include "energy/source_probe.h"
#include "host/perf_counter.h"

namespace keplerd {

class HostRoot;

struct SourceChoice {
  std::string source =
      "auto";  // "auto" never selects "estimated" or "simulated": they must be requested by name
  std::vector<std::string> zones;                             // names to use, case-insensitive; empty: all
  std::optional<Microwatts> idle_power = {}, max_power = {};  // for "estimated", which needs both
  std::string guest_meter = kDefaultGuestMeter;               // for "guest": its directory
  OpenPerfCounter open_perf_counter = {};                     // unset: the kernel's
};

// The valid names for `source`, for the configuration and the command line; "auto" first.
const std::vector<std::string_view>& source_names();

// Fails, with one line for the user, if `name` is not among source_names().
Result<Done> check_source_name(std::string_view name);

// Opens the source, or returns why there is none (one line for the report's `source.reason`). Cheap enough to
// be retried every few seconds until a meter appears. One that can be read at once is preferred to one that
// cannot. `now`: CLOCK_MONOTONIC. `probes`: null, or where to append those that were tried.
Result<std::unique_ptr<EnergySource>> select_source(const HostRoot& host, const SourceChoice& choice,
                                                    Nanoseconds now = Nanoseconds{0},
                                                    SourceProbes* probes = nullptr);

// Restricts which of the sources allowed by `choice` are tried; empty: no restriction.
struct SourceSearch {
  std::string_view better_than = {};  // those before this one in the order of `auto`
  std::string_view except = {};
  std::string_view only = {};
};

// The best of them with a zone of the total that can be read at once.
Result<std::unique_ptr<EnergySource>> search_source(const HostRoot& host, const SourceChoice& choice,
                                                    const SourceSearch& search, Nanoseconds now,
                                                    SourceProbes* probes = nullptr);

// Whether a zone of the total is among what `source` has just read.
bool reads_total(const EnergySource& source, const ZoneReadings& readings);

// Probes all sources, those of `auto` in its order, then those selected by name only; ignores
// `choice.source`.
SourceProbes probe_sources(const HostRoot& host, const SourceChoice& choice = {});

// What looks like a meter on this host but is not a zone of these sources.
std::vector<LeftOut> left_out(const HostRoot& host);

}  // namespace keplerd
