// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/meters.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "cli/fields.h"
#include "cli/screens.h"
#include "cli/wall.h"

namespace keplerd::cli {
namespace {

using enum CheckState;

// Sources that must be requested by name say nothing about the host's meters.
bool is_meter(const SourceProbe& probe) { return probe.name != "simulated" && probe.name != "estimated"; }

bool any_meter_usable(const DoctorFacts& facts) {
  return std::any_of(facts.meters.begin(), facts.meters.end(),
                     [](const SourceProbe& probe) { return is_meter(probe) && probe.usable; });
}

// "a b c and 4 more"
std::string some_of(const std::vector<std::string>& words) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(words.size(), kMost); ++i) {
    text += (i > 0 ? " " : "") + printable(words[i]);
  }
  if (words.size() > kMost) text += fmt::format(" and {} more", words.size() - kMost);
  return text;
}

std::string usable_text(std::string_view how, const std::vector<std::string>& zones) {
  return std::string(how) + (zones.empty() ? "" : ": " + some_of(zones));
}

// What the daemon found when it tried this meter; null if it did not.
const Json& daemons_meter(const DoctorFacts& facts, const std::string& name) {
  static const Json kNone;
  if (!answers(facts)) return kNone;
  for (const Json& meter : field(*facts.status, "meters")) {
    if (string_field(meter, "name") == name) return meter;
  }
  return kNone;
}

std::vector<std::string> texts(const Json& array) {
  std::vector<std::string> all;
  for (const Json& text : array) {
    if (text.is_string()) all.push_back(text.get<std::string>());
  }
  return all;
}

// The daemon sees what the user running doctor may not, and has tried all meters better than the one it uses.
Check check_daemons_meter(const Json& meter, const DoctorFacts& facts) {
  Check check{"meter " + name_text(meter, "name"), kOk, "", ""};
  const auto zones = texts(field(meter, "zones"));
  if (bool_field(meter, "inUse") == true) {
    check.found = usable_text("in use", zones);
  } else if (bool_field(meter, "usable") == true) {
    check.found = usable_text("usable", zones);
    check.unused = is_measured(facts);
  } else {
    check.unused = is_measured(facts);
    check.state = is_measured(facts) ? kOk : kProblem;
    check.found = name_text(meter, "reason");
    check.fix = name_text(meter, "fix");
  }
  return check;
}

Check check_meter(const SourceProbe& probe, const DoctorFacts& facts) {
  const Json& reported = daemons_meter(facts, probe.name);
  if (!reported.is_null()) return check_daemons_meter(reported, facts);
  Check check{"meter " + printable(probe.name), kOk, usable_text("usable", probe.zones), ""};
  if (probe.usable) return check;
  check.found = printable(probe.reason);
  if (any_meter_usable(facts)) {
    check.found += " (not needed: another meter works)";
    check.unused = true;
  } else if (is_measured(facts)) {
    check.found += " (for you; keplerd reads its meter)";
    check.unused = true;
  } else {
    check.state = kProblem;
    check.fix = printable(probe.fix);
  }
  return check;
}

// The meters found if nothing is measured.
void add_estimate(const DoctorFacts& facts, std::vector<Check>& checks) {
  if (is_measured(facts) || any_meter_usable(facts)) return;
  if (answers(facts) && name_text(field(*facts.status, "source"), "name") == "estimated") return;
  for (const SourceProbe& probe : facts.meters) {
    if (probe.name != "estimated") continue;
    checks.push_back({.name = "meter estimated",
                      .found = "only if configured explicitly",
                      .fix = probe.usable
                                 ? "Source=estimated in keplerd.conf, for an estimate from the typical "
                                   "power of such processors"
                                 : printable(probe.fix),
                      .unused = true});
  }
}

Check check_shown_only(const DoctorFacts& facts) {
  return {"other meters", kOk,
          facts.shown_only.empty() ? "none" : some_of(facts.shown_only) + ": shown, not in the host's total",
          ""};
}

// Graphics cards whose energy is not divided, as the daemon reports it.
void add_undivided(const DoctorFacts& facts, std::vector<Check>& checks) {
  for (const Json& zone : facts.zones) {
    if (string_field(zone, "undividedReason") && string_field(zone, "state") != "terminated")
      checks.push_back({.name = name_text(zone, "id"),
                        .state = kOk,
                        .found = "not divided: " + name_text(zone, "undividedReason"),
                        .unused = true});
  }
}

// What a zone that the daemon reads covers, and how late it is: "platform, last reading 3.00 s old, lags 4.00
// s behind". Zones of the source are read with each sample.
void add_daemons_zones(const DoctorFacts& facts, std::vector<Check>& checks) {
  if (!answers(facts)) return;
  const std::string platform = name_text(field(*facts.status, "platform"), "id");
  for (const Json& zone : facts.zones) {
    const std::string id = name_text(zone, "id"), covers = name_text(zone, "covers");
    const bool is_platforms = !platform.empty() && id == platform;
    if (string_field(zone, "state") != "running" || (!is_platforms && !integer_field(zone, "ageUsec")))
      continue;
    Check check{.name = "zone", .found = id + " covers: " + covers};
    if (integer_field(zone, "ageUsec"))
      check.found += ", last reading " + time_text(zone, "ageUsec") + " old";
    if (integer_field(zone, "lagUsec")) check.found += ", lags " + time_text(zone, "lagUsec") + " behind";
    if (is_platforms) check.found += "; in use for the platform";
    checks.push_back(std::move(check));
  }
}

// Whether --wall is possible, for callers who may see that.
void add_calibration(const DoctorFacts& facts, std::vector<Check>& checks) {
  if (!answers(facts) || !sees_everything(*facts.status) || !field(*facts.status, "platform").is_object())
    return;
  const Json& wall = field(*facts.status, "wall");
  if (wall.is_object()) {
    checks.push_back({.name = "at the plug", .found = wall_line_text(wall)});
  } else {
    checks.push_back(
        {.name = "at the plug",
         .found = "the line between the powers of processors and of the platform is still being learned",
         .hint = "this takes some minutes of varying load"});
  }
}

void add_left_out(const DoctorFacts& facts, std::vector<Check>& checks) {
  constexpr std::size_t kMost = 16;
  for (std::size_t i = 0; i < std::min(facts.left_out.size(), kMost); ++i) {
    const LeftOut& one = facts.left_out[i];
    if (one.is_problem) {
      checks.push_back({.name = printable(one.what), .state = kProblem, .found = printable(one.why)});
      continue;
    }
    checks.push_back({.name = "no zone",
                      .state = kOk,
                      .found = printable(one.what) + " " + printable(one.why),
                      .unused = true});
  }
}

}  // namespace

std::vector<Check> check_meters(const DoctorFacts& facts) {
  std::vector<Check> checks;
  for (const SourceProbe& probe : facts.meters) {
    if (is_meter(probe)) checks.push_back(check_meter(probe, facts));
  }
  add_estimate(facts, checks);
  checks.push_back(check_shown_only(facts));
  add_undivided(facts, checks);
  add_daemons_zones(facts, checks);
  add_calibration(facts, checks);
  add_left_out(facts, checks);
  return checks;
}

}  // namespace keplerd::cli
