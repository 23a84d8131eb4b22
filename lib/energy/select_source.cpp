// SPDX-License-Identifier: Apache-2.0
#include "energy/select_source.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "energy/battery.h"
#include "energy/cpu/perf.h"
#include "energy/cpu/powercap.h"
#include "energy/cpu/processor_sensors.h"
#include "energy/cpu/typical_power.h"
#include "energy/estimated.h"
#include "energy/hwmon.h"
#include "energy/meters/meter_directories.h"
#include "energy/simulated.h"

namespace keplerd {
namespace {

enum class Use { kAutomatic, kForced };

struct Kind {
  std::string_view name;
  Use use;
  Result<std::unique_ptr<EnergySource>> (*open)(const HostRoot&, const SourceChoice&);
  std::string (*fix)(const HostRoot&, const Error&);
};

std::string no_fix(const HostRoot&, const Error&) { return {}; }
std::string estimated_fix(const HostRoot&, const Error&) {
  return "Source=estimated, IdleWatts= and MaxWatts= in keplerd.conf, for an estimate where there is no "
         "meter";
}

using Opened = Result<std::unique_ptr<EnergySource>>;

// What was set, and the rest in proportion to it.
PowerCurve curve_of(const TypicalPower& typical, const SourceChoice& choice) {
  PowerCurve curve{choice.idle_power.value_or(typical.idle), choice.max_power.value_or(typical.max)};
  if (choice.max_power) {
    const double ratio = static_cast<double>(typical.idle.value) / static_cast<double>(typical.max.value);
    curve.idle = {std::llround(ratio * static_cast<double>(curve.max.value))};
  }
  return curve;
}

// "typical of Intel Ice Lake-SP with 40 cores: 54 W idle, 271 W if fully busy"
std::string typical_text(const TypicalPower& typical, const PowerCurve& curve) {
  const auto watts = [](Microwatts power) { return std::lround(static_cast<double>(power.value) / 1e6); };
  return fmt::format(
      "typical of {} with {} core{}: {} W idle, {} W if fully busy; the error may be 40 % or more",
      typical.processors, typical.cores, typical.cores == 1 ? "" : "s", watts(curve.idle), watts(curve.max));
}

Opened perf(const HostRoot& host, const SourceChoice& choice) {
  return open_perf(host, choice.zones, choice.open_perf_counter);
}
Opened powercap(const HostRoot& host, const SourceChoice& choice) {
  return open_powercap(host, choice.zones);
}
Opened guest(const HostRoot& host, const SourceChoice& choice) {
  return open_guest(host, choice.zones, choice.guest_meter);
}
Opened hwmon(const HostRoot& host, const SourceChoice& choice) {
  return open_processor_sensors(host, choice.zones);
}
Opened estimated(const HostRoot& host, const SourceChoice& choice) {
  if (choice.idle_power && choice.max_power)
    return open_estimated(host, choice.zones, {*choice.idle_power, *choice.max_power});
  const auto typical = read_typical_power(host);
  if (!typical) {
    return Error{.message =
                     "estimated: IdleWatts= and MaxWatts= are not set, and what this processor "
                     "typically draws is not known"};
  }
  const PowerCurve curve = curve_of(*typical, choice);
  if (curve.idle > curve.max)
    return Error{.message = "estimated: IdleWatts= is more than this processor draws: set MaxWatts=, too"};
  return open_estimated(host, choice.zones, curve, typical_text(*typical, curve));
}
Opened simulated(const HostRoot& host, const SourceChoice& choice) {
  return open_simulated(host, choice.zones);
}

// The order in which `auto` tries them, best first: 64-bit counters, then counters that wrap, then what a
// host passes in, then sensors that mostly report power only. The order is documented in keplerd.conf(5). A
// new source adds a line here.
constexpr std::array kKinds = {
    Kind{"perf", Use::kAutomatic, perf, perf_fix},
    Kind{"powercap", Use::kAutomatic, powercap, powercap_fix},
    Kind{"guest", Use::kAutomatic, guest, guest_fix},
    Kind{"hwmon", Use::kAutomatic, hwmon, no_fix},
    Kind{"estimated", Use::kForced, estimated, estimated_fix},
    Kind{"simulated", Use::kForced, simulated, no_fix},
};

constexpr std::string_view kAuto = "auto";

bool is_allowed(const Kind& kind, const SourceChoice& choice) {
  return choice.source == kAuto ? kind.use == Use::kAutomatic : kind.name == choice.source;
}

// A source that could be opened, and whether a zone of the total can be read right now.
struct Tried {
  Opened source;
  bool readable = false;
};

Tried try_source(const Kind& kind, const HostRoot& host, const SourceChoice& choice, Nanoseconds now,
                 SourceProbes* probes) {
  Tried tried{kind.open(host, choice)};
  SourceProbe probe{.name = std::string(kind.name)};
  if (tried.source) {
    ZoneReadings readings;
    (*tried.source)->read(now, readings);
    tried.readable = reads_total(**tried.source, readings);
    for (const Zone& zone : (*tried.source)->zones()) probe.zones.push_back(zone.id);
    const auto failed = std::find_if(readings.begin(), readings.end(), [](const auto& r) { return !r.ok(); });
    if (!tried.readable && failed != readings.end()) probe.reason = failed->error().message;
  } else {
    probe.reason = tried.source.error().message;
    probe.fix = kind.fix(host, tried.source.error());
  }
  probe.usable = tried.readable;
  if (probes != nullptr) probes->push_back(std::move(probe));
  return tried;
}

}  // namespace

const std::vector<std::string_view>& source_names() {
  static const auto names = [] {
    std::vector<std::string_view> all{kAuto};
    for (const auto& kind : kKinds) all.push_back(kind.name);
    return all;
  }();
  return names;
}

Result<Done> check_source_name(std::string_view name) {
  const auto& names = source_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return Done{};
  return Error{.message = fmt::format("energy source \"{}\" does not exist (use one of: {})",
                                      escape_name(name), fmt::join(names, ", "))};
}

bool reads_total(const EnergySource& source, const ZoneReadings& readings) {
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (readings[i] && source.zones()[i].in_total) return true;
  }
  return false;
}

Opened search_source(const HostRoot& host, const SourceChoice& choice, const SourceSearch& search,
                     Nanoseconds now, SourceProbes* probes) {
  for (const auto& kind : kKinds) {
    if (kind.name == search.better_than) break;
    if (!is_allowed(kind, choice) || kind.name == search.except) continue;
    if (!search.only.empty() && kind.name != search.only) continue;
    auto tried = try_source(kind, host, choice, now, probes);
    if (tried.readable) return std::move(tried.source);
  }
  return Error{.message = "no other energy source"};
}

Opened select_source(const HostRoot& host, const SourceChoice& choice, Nanoseconds now,
                     SourceProbes* probes) {
  const auto known = check_source_name(choice.source);
  if (!known) return known.error();
  std::unique_ptr<EnergySource> unreadable;
  std::vector<std::string> reasons;
  int code = 0;
  for (const auto& kind : kKinds) {
    if (!is_allowed(kind, choice)) continue;
    auto tried = try_source(kind, host, choice, now, probes);
    if (tried.readable) return std::move(tried.source);
    if (!tried.source) {
      reasons.push_back(tried.source.error().message);
      if (code == 0) code = tried.source.error().code;
    } else if (!unreadable) {
      unreadable = *std::move(tried.source);
    }
  }
  if (unreadable) return unreadable;
  return Error{.message = fmt::format("{}", fmt::join(reasons, "; ")), .code = code};
}

SourceProbes probe_sources(const HostRoot& host, const SourceChoice& choice) {
  SourceProbes probes;
  for (const auto& kind : kKinds) try_source(kind, host, choice, Nanoseconds{0}, &probes);
  return probes;
}

std::vector<LeftOut> left_out(const HostRoot& host) {
  std::vector<LeftOut> all;
  for (const auto find :
       {powercap_left_out, perf_left_out, hwmon_left_out, battery_left_out, meters_left_out}) {
    for (auto& one : find(host)) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace keplerd
