// SPDX-License-Identifier: Apache-2.0
// The project that a virtual machine belongs to: what OpenStack states in libvirt's metadata, or else a part
// of its name, by the pattern of Project= in history.conf (keplerd-history(8)). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "history/store/query.h"

namespace keplerd::history {

// "*-%p-*": `%p` is the project, of one character or more; `*` is any text. Each of them is as short as
// possible, from the left. The time to match a name grows with its length only.
class ProjectPattern {
 public:
  static Result<ProjectPattern> parse(std::string_view text);

  // Nothing if the name does not match.
  std::optional<std::string> project_of(std::string_view name) const;

 private:
  struct Part {
    bool is_project = false;  // of the text before the literal; else it is any
    std::string literal;      // what follows it; empty: nothing does
  };
  std::string beginning_;  // before the first part
  std::vector<Part> parts_;
};

// Sets the project of those that have none. Only virtual machines of root and the system have one: users
// choose the names of theirs, and could have others pay for them.
void add_projects(std::vector<WorkloadEnergy>& vms, const std::optional<ProjectPattern>& pattern);

}  // namespace keplerd::history
