// SPDX-License-Identifier: Apache-2.0
#include "energy/select_source.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "energy/estimated.h"
#include "energy/hwmon.h"
#include "energy/perf.h"
#include "energy/powercap.h"
#include "energy/simulated.h"

namespace keplerd {
namespace {

enum class Use { kAutomatic, kForced };

struct Kind {
  std::string_view name;
  Use use;
  // Null: the name is kept for a source that is not built yet.
  Result<std::unique_ptr<EnergySource>> (*open)(const HostRoot&, const SourceChoice&);
  std::string (*fix)(const HostRoot&, const Error&);
};

std::string no_fix(const HostRoot&, const Error&) { return {}; }

using Opened = Result<std::unique_ptr<EnergySource>>;

Opened perf(const HostRoot& host, const SourceChoice& choice) {
  return open_perf(host, choice.zones, choice.open_perf_counter);
}
Opened powercap(const HostRoot& host, const SourceChoice& choice) {
  return open_powercap(host, choice.zones);
}
Opened guest(const HostRoot& host, const SourceChoice& choice) {
  return open_guest(host, choice.zones, choice.guest_meter);
}
Opened hwmon(const HostRoot& host, const SourceChoice& choice) { return open_hwmon(host, choice.zones); }
Opened estimated(const HostRoot& host, const SourceChoice& choice) {
  if (!choice.idle_power || !choice.max_power) {
    return Error{.message = "estimated: IdleWatts= and MaxWatts= are not set"};
  }
  return open_estimated(host, choice.zones, {*choice.idle_power, *choice.max_power});
}
Opened simulated(const HostRoot& host, const SourceChoice& choice) {
  return open_simulated(host, choice.zones);
}

// In the order in which `auto` tries them, the best first: 64-bit counters, then counters that wrap, then
// what a host passes in, then sensors that mostly tell power only. The order is documented in
// keplerd.conf(5). A new source is a line here.
constexpr std::array kKinds = {
    Kind{"perf", Use::kAutomatic, perf, perf_fix},
    Kind{"powercap", Use::kAutomatic, powercap, powercap_fix},
    Kind{"guest", Use::kAutomatic, guest, guest_fix},
    Kind{"hwmon", Use::kAutomatic, hwmon, no_fix},
    Kind{"estimated", Use::kForced, estimated, no_fix},
    Kind{"simulated", Use::kForced, simulated, no_fix},
};

constexpr std::string_view kAuto = "auto";

const Kind* find_kind(std::string_view name) {
  const auto* const kind =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& k) { return k.name == name; });
  return kind == kKinds.end() ? nullptr : kind;
}

bool is_allowed(const Kind& kind, const SourceChoice& choice) {
  if (kind.open == nullptr) return false;
  return choice.source == kAuto ? kind.use == Use::kAutomatic : kind.name == choice.source;
}

bool can_be_read(EnergySource& source, Nanoseconds now) {
  ZoneReadings readings;
  source.read(now, readings);
  return tells_total(source, readings);
}

}  // namespace

const std::vector<std::string_view>& source_names() {
  static const auto names = [] {
    std::vector<std::string_view> built{kAuto};
    for (const auto& kind : kKinds) {
      if (kind.open != nullptr) built.push_back(kind.name);
    }
    return built;
  }();
  return names;
}

Result<Done> check_source_name(std::string_view name) {
  const auto& names = source_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return Done{};
  return Error{.message = fmt::format("energy source \"{}\" {} (use one of: {})", escape_name(name),
                                      find_kind(name) != nullptr ? "is not built yet" : "does not exist",
                                      fmt::join(names, ", "))};
}

bool tells_total(const EnergySource& source, const ZoneReadings& readings) {
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (readings[i] && source.zones()[i].in_total) return true;
  }
  return false;
}

Opened search_source(const HostRoot& host, const SourceChoice& choice, const SourceSearch& search,
                     Nanoseconds now) {
  for (const auto& kind : kKinds) {
    if (kind.name == search.better_than) break;
    if (!is_allowed(kind, choice) || kind.name == search.except) continue;
    if (!search.only.empty() && kind.name != search.only) continue;
    auto source = kind.open(host, choice);
    if (source && can_be_read(**source, now)) return source;
  }
  return Error{.message = "no other energy source"};
}

Opened select_source(const HostRoot& host, const SourceChoice& choice, Nanoseconds now) {
  const auto known = check_source_name(choice.source);
  if (!known) return known.error();
  std::unique_ptr<EnergySource> unreadable;
  std::vector<std::string> reasons;
  int code = 0;
  for (const auto& kind : kKinds) {
    if (!is_allowed(kind, choice)) continue;
    auto source = kind.open(host, choice);
    if (source && can_be_read(**source, now)) return source;
    if (!source) {
      reasons.push_back(source.error().message);
      if (code == 0) code = source.error().code;
    } else if (!unreadable) {
      unreadable = *std::move(source);
    }
  }
  if (unreadable) return unreadable;
  return Error{.message = fmt::format("{}", fmt::join(reasons, "; ")), .code = code};
}

std::vector<SourceProbe> probe_sources(const HostRoot& host, const SourceChoice& choice) {
  std::vector<SourceProbe> probes;
  for (const auto& kind : kKinds) {
    if (kind.open == nullptr) continue;
    SourceProbe probe;
    probe.name = kind.name;
    const auto source = kind.open(host, choice);
    probe.usable = source.ok();
    if (!source) probe.reason = source.error().message;
    if (!source) probe.fix = kind.fix(host, source.error());
    probes.push_back(std::move(probe));
  }
  return probes;
}

}  // namespace keplerd
