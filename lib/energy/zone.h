// SPDX-License-Identifier: Apache-2.0
// An energy zone: one counter of the host's hardware (or what stands in for it), e.g. a processor package.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace keplerd {

// How a value was obtained. A workload's share of a zone is never better than `attributed`.
enum class Quality {
  kMeasured,    // a hardware energy counter
  kModelled,    // integrated power, or counters that are themselves a model (AMD's)
  kAttributed,  // a workload's share of a measured or modelled zone
  kEstimated,   // a power curve over utilisation
  kSimulated,   // made up; only ever on explicit request
};
std::string_view quality_name(Quality quality);  // "measured", "modelled", ...
std::optional<Quality> parse_quality(std::string_view name);

// The quality of a workload's share of zones of quality `zone`: at best attributed.
constexpr Quality share_quality(Quality zone) {
  return zone < Quality::kAttributed ? Quality::kAttributed : zone;
}

// What consumes a zone's energy, and so by what it can be divided among workloads.
enum class Resource {
  kCpu,   // processors: packages and what is inside them
  kDram,  // memory
  kGpu,   // a graphics card
  kNone,  // shown for the host only, never attributed: a platform's meter, a rail
};
std::string_view resource_name(Resource resource);  // "cpu", "dram", "gpu", "none"
std::optional<Resource> parse_resource(std::string_view name);

// What a zone measures.
enum class Coverage { kPlatform, kCpu, kDram, kGpu, kOther };
std::string_view coverage_name(Coverage coverage);  // "platform" (the whole host), "cpu", ...
std::optional<Coverage> parse_coverage(std::string_view name);

struct Zone {
  std::string id;    // "SOURCE:NAME:INDEX", e.g. "powercap:dram:1"; stable across reboots
  std::string name;  // "package", "dram", "core", "uncore", "psys"
  int index = 0;     // of the package; if packages have several dies, of the die among all dies
  Quality quality = Quality::kMeasured;
  std::string_view quality_reason = {};  // why it is worse than the counter's own; a literal; mostly empty
  bool in_total = false;                 // counts into the host's total: packages, and the DRAM outside them
  Microjoules range;  // the counter wraps to 0 after this value; 0: it does not wrap, or the range is unknown
  Microwatts largest_limit;  // the zone's largest non-zero power limit; 0: it has none
  // The counter starts when its source is opened: a reading is meaningless to the next run.
  bool begins_anew = false;
  Resource resource = Resource::kCpu;
  std::string device = {};  // of a graphics card: its PCI address ("0000:03:00.0"), by which its use is found
  std::optional<Coverage> covers = {};  // unset: what follows from the rest (coverage_of())
};

// Whether workloads have parts of its energy; otherwise, all of it is unattributed.
inline bool is_divided(const Zone& zone) { return zone.resource != Resource::kNone; }

// "psys" and zones named "platform" that nothing is divided by cover the platform.
Coverage coverage_of(const Zone& zone);

// Something on the host that looks like a meter but is not a zone.
struct LeftOut {
  std::string what;  // "powercap intel-rapl-mmio:0"
  std::string why;
  bool is_problem = false;  // it should be a zone
};

// The resource of a zone with one of RAPL's names: "package", "dram", "core", "uncore", "psys".
constexpr Resource rapl_resource(std::string_view name) {
  return name == "dram" ? Resource::kDram : Resource::kCpu;
}

// "SOURCE:NAME:INDEX".
std::string zone_id(std::string_view source, std::string_view name, int index);

// Whether the user's choice of zones, by case-insensitive name, includes `zone`. No names: all are chosen.
bool is_chosen(const Zone& zone, const std::vector<std::string>& names);

// Fails if `names` choose none of `zones` that counts into the total; the error lists the names there
// are.
Result<Done> check_choice(const std::vector<Zone>& zones, const std::vector<std::string>& names);

}  // namespace keplerd
