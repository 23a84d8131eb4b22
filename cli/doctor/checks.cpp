// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/checks.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "cli/doctor/counts.h"
#include "cli/doctor/daemon.h"
#include "cli/doctor/host.h"
#include "cli/doctor/meters.h"
#include "cli/doctor/models.h"
#include "cli/doctor/totals.h"
#include "cli/fields.h"
#include "cli/screens.h"
#include "config/settings_table.h"

namespace keplerd::cli {
namespace {

using enum CheckState;

// "Interval=2s Zones=package": the settings that differ from the defaults.
std::string changed_settings(const Settings& settings) {
  const auto defaults = describe_settings({});
  const auto effective = describe_settings(settings);
  std::string out;
  for (std::size_t i = 0; i < effective.size(); ++i) {
    if (effective[i] == defaults[i]) continue;
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", effective[i].key, printable(effective[i].value));
  }
  return out;
}

// Whether the host's daemon runs with the files' present contents; --interval overrides them.
bool is_in_effect(const DoctorFacts& facts) {
  if (!answers(facts) || facts.address != kDefaultAddress) return true;
  const auto running = integer_field(*facts.status, "intervalUsec");
  return !running || std::chrono::microseconds(*running) == facts.settings.sampling.interval;
}

Check check_configuration(const DoctorFacts& facts) {
  if (facts.config_error) {
    return {"configuration", kProblem, printable(*facts.config_error),
            "correct it, and check the result with keplerd --check-config"};
  }
  std::string files;
  for (const std::string& file : facts.config_files) files += (files.empty() ? "" : ", ") + printable(file);
  if (!is_in_effect(facts)) {
    return {"configuration", kWarning, "keplerd uses another Interval= than its configuration files specify",
            "systemctl reload keplerd, unless it was started with --interval"};
  }
  if (files.empty()) return {"configuration", kOk, "none: the defaults are in effect", ""};
  const std::string changed = changed_settings(facts.settings);
  return {"configuration", kOk, "valid: " + files + (changed.empty() ? ": the defaults" : ": " + changed),
          ""};
}

Check check_access(const DoctorFacts& facts) {
  const Caller& caller = facts.caller;
  if (!caller.group_exists) {
    return {"access", kWarning, "there is no group keplerd: only root sees everything", "systemd-sysusers"};
  }
  if (caller.is_root) return {"access", kOk, "you are root, and see everything", ""};
  if (caller.in_group) return {"access", kOk, "you are in the group keplerd, and see everything", ""};
  if (answers(facts) && sees_everything(*facts.status)) return {"access", kOk, "you see everything", ""};
  return {"access", kOk, "you see what Public= allows for all users: keplerd.conf(5)",
          "usermod -aG keplerd USER, and log in again, to see everything"};
}

}  // namespace

bool answers(const DoctorFacts& facts) { return facts.status.ok(); }

bool is_measured(const DoctorFacts& facts) {
  if (!answers(facts)) return false;
  const std::string quality = name_text(field(*facts.status, "source"), "quality");
  return quality == "measured" || quality == "modelled" || quality == "attributed";
}

std::vector<Check> check_all(const DoctorFacts& facts) {
  std::vector<Check> checks = check_daemon(facts);
  const auto add = [&checks](std::vector<Check> more) {
    std::ranges::move(more, std::back_inserter(checks));
  };
  if (answers(facts)) add(check_models(facts));
  checks.push_back(check_socket(facts));
  checks.push_back(check_access(facts));
  checks.push_back(check_configuration(facts));
  if (facts.host_error) {
    checks.push_back({"host", kProblem, printable(*facts.host_error), "mount it, or specify its location"});
    return checks;
  }
  add(check_meters(facts));
  if (answers(facts) && sees_everything(*facts.status)) checks.push_back(check_totals(facts.zones));
  if (answers(facts)) add(check_counts(facts));
  add(check_host(facts));
  if (answers(facts)) add(check_claims(facts));
  return checks;
}

ExitStatus doctor_status(const DoctorFacts& facts, const std::vector<Check>& checks) {
  if (!answers(facts)) return kFailed;
  if (!is_measured(facts)) return kNotMeasured;
  const bool any_problem =
      std::any_of(checks.begin(), checks.end(), [](const Check& check) { return check.state == kProblem; });
  return any_problem ? kFailed : kFine;
}

}  // namespace keplerd::cli
