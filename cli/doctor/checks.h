// SPDX-License-Identifier: Apache-2.0
// Evaluates the facts: what is wrong, and how to fix it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/doctor/facts.h"
#include "cli/exit_status.h"
#include "varlink/json_fwd.h"

namespace keplerd::cli {

enum class CheckState { kOk, kWarning, kProblem };
std::string_view state_name(CheckState state);  // "ok", "warning", "problem"

struct Check {
  std::string name;
  CheckState state = CheckState::kOk;
  std::string found;
  std::string fix = {};    // empty: nothing to fix
  std::string hint = {};   // in the text only, if there is no fix
  std::string brief = {};  // in the text in place of `found`, unless empty
  bool unused = false;     // a meter that is not needed: marked "-" in the text
};

bool answers(const DoctorFacts& facts);
// Whether keplerd itself has found a meter.
bool is_measured(const DoctorFacts& facts);

std::vector<Check> check_all(const DoctorFacts& facts);

// 1: keplerd does not answer, or there is another problem; 4: it answers, but measures nothing.
ExitStatus doctor_status(const DoctorFacts& facts, const std::vector<Check>& checks);

// {"checks":[{"name","state","found","fix"}]}; fix is null if none is needed.
varlink::Json checks_json(const std::vector<Check>& checks);

// Lines are at most `width` columns wide, where they can be broken at blanks; unset: nothing is broken.
std::string checks_text(const std::vector<Check>& checks, bool colour, std::optional<int> width = {});

// The number of problems and warnings, in one line; and another one if no meter works.
std::string verdict_text(const std::vector<Check>& checks);

}  // namespace keplerd::cli
