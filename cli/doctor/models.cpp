// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/models.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/fields.h"
#include "cli/output/human.h"
#include "client/fields.h"

namespace keplerd::cli {
namespace {

using enum CheckState;

// The model learns from windows of up to 10.5 s.
constexpr std::chrono::seconds kLongestInterval{10};
// Below this, the learned differences between workloads hardly count.
constexpr double kOpenGate = 0.1;
constexpr double kNormal95 = 1.96;           // half the width of a 95 % interval, in standard deviations
constexpr std::int64_t kMostPercent = 1000;  // larger errors mean nothing

// "powercap:package:0: idle power 21.3 W +-800 mW"; without figures, which only callers with full access get,
// "powercap:package:0: idle power known".
std::string idle_text(const Json& zone, const Json& model) {
  const std::string id = name_text(zone, "id");
  if (!integer_field(model, "idleMicrowatts")) return id + ": idle power known";
  return fmt::format("{}: idle power {} +-{}", id, power_text(model, "idleMicrowatts"),
                     power_text(model, "idleErrorMicrowatts"));
}

// What the gate means for the division; empty if it is open, not known or not in use.
std::string gate_text(const Json& status, const Json& model) {
  const Json& gate = field(model, "gate");
  if (name_text(status, "share") != "learned" || !gate.is_number() || gate.get<double>() >= kOpenGate)
    return {};
  return "; no difference between workloads has been learned: CPU time alone divides";
}

Check check_model(const Json& status, const Json& zone) {
  const Json& model = field(zone, "model");
  const std::string state = name_text(model, "state");
  if (state == "learning") {
    return {"model", kOk, name_text(zone, "id") + ": its idle power is still being learned", "",
            "this takes some minutes"};
  }
  const std::string found = idle_text(zone, model), gate = gate_text(status, model);
  if (state == "extrapolated") {
    return {"model", kWarning, found + ", extrapolated: the host has not been idle yet" + gate,
            "leave the host idle for a minute, or set IdlePower= in keplerd.conf"};
  }
  if (state == "aged") {
    return {"model", kOk, found + ", learned more than a day ago" + gate, "",
            "it is learned again when the host is idle for a minute"};
  }
  return {"model", kOk, found + gate, ""};
}

// Workloads whose own power could not be learned; nothing if there are none, or no access to the figures.
std::optional<Check> check_unclear(const Json& zone) {
  constexpr std::size_t kMost = 3;
  std::string found;
  std::size_t count = 0;
  for (const Json& workload : client::elements(field(field(zone, "model"), "unclear"))) {
    const auto sd = integer_field(workload, "errorPercent");
    if (!sd || *sd < 0 || *sd > kMostPercent || ++count > kMost) continue;
    const std::string path = name_text(workload, "id");
    found += fmt::format("{}{} +-{} %", found.empty() ? "" : ", ", path.substr(path.rfind('/') + 1),
                         std::llround(kNormal95 * static_cast<double>(*sd)));
  }
  if (found.empty()) return std::nullopt;
  return Check{
      "steady loads", kOk,
      name_text(zone, "id") + ": the power of these is not known better than by their CPU time: " + found, "",
      "their load hardly varies, or only together; it is learned as soon as one of them pauses for a few "
      "minutes"};
}

// Rules that were set, but cannot be followed with this source.
std::vector<Check> check_rules(const DoctorFacts& facts) {
  const Json& source = field(*facts.status, "source");
  const std::string quality = name_text(source, "quality");
  if (quality != "simulated" && quality != "estimated" && quality != "attributed") return {};
  const bool split = facts.settings.attribution.split == SplitRule::kBaseline;
  const bool share = facts.settings.attribution.share == ShareRule::kLearned;
  if (!split && !share) return {};
  const std::string rules = split && share ? "Split=baseline and Share=learned have"
                            : split        ? "Split=baseline has"
                                           : "Share=learned has";
  return {{"learning", kWarning,
           rules + " no effect: the source " + name_text(source, "name") +
               " does not count the energy of processors",
           "set Split=auto and Share=auto in keplerd.conf"}};
}

Check check_interval(const SamplingSettings& sampling) {
  const Nanoseconds longest = std::max(sampling.interval, sampling.unwatched_interval);
  if (longest <= kLongestInterval) return {"learning", kOk, "samples are frequent enough to learn from", ""};
  return {"learning", kWarning,
          "samples every " + format_time(std::chrono::ceil<std::chrono::microseconds>(longest)) +
              " are too rare to learn from",
          "set Interval= and UnwatchedInterval= in keplerd.conf to 10s or less"};
}

Check check_frequency(bool has_frequency) {
  return {"frequency", kOk,
          has_frequency ? "of the processors can be read"
                        : "of the processors cannot be read: the number of active cores is used instead",
          ""};
}

}  // namespace

std::vector<Check> check_models(const DoctorFacts& facts) {
  std::vector<Check> checks;
  const Json& zones = field(*facts.status, "zones");
  if (!zones.is_array() || zones.empty()) return check_rules(facts);
  for (const Json& zone : zones) {
    checks.push_back(check_model(*facts.status, zone));
    if (auto unclear = check_unclear(zone)) checks.push_back(*std::move(unclear));
  }
  checks.push_back(check_interval(facts.settings.sampling));
  if (!facts.host_error) checks.push_back(check_frequency(facts.has_frequency));
  return checks;
}

}  // namespace keplerd::cli
