// SPDX-License-Identifier: Apache-2.0
#include "history/project.h"

#include <algorithm>

namespace keplerd::history {
namespace {

constexpr std::string_view kProject = "%p";
constexpr char kAny = '*';

}  // namespace

Result<ProjectPattern> ProjectPattern::parse(std::string_view text) {
  const Error expected{"must contain %p once, like *-%p-*, with text between %p and *"};
  ProjectPattern pattern;
  std::string* literal = &pattern.beginning_;
  for (std::size_t at = 0; at < text.size();) {
    const bool is_project = text.substr(at).starts_with(kProject);
    if (is_project || text[at] == kAny) {
      // Where one ends and the next begins would not be known.
      if (!pattern.parts_.empty() && literal->empty()) return expected;
      literal = &pattern.parts_.emplace_back(Part{is_project, {}}).literal;
      at += is_project ? kProject.size() : 1;
    } else {
      *literal += text[at++];
    }
  }
  if (std::ranges::count(pattern.parts_, true, &Part::is_project) != 1) return expected;
  return pattern;
}

std::optional<std::string> ProjectPattern::project_of(std::string_view name) const {
  if (!name.starts_with(beginning_)) return std::nullopt;
  name.remove_prefix(beginning_.size());
  std::optional<std::string> project;
  for (const Part& part : parts_) {
    const std::size_t least = part.is_project ? 1 : 0;
    if (name.size() < least) return std::nullopt;
    auto end = part.literal.empty() ? name.size() : name.find(part.literal, least);
    if (&part == &parts_.back() && !part.literal.empty())
      end = name.ends_with(part.literal) && name.size() >= least + part.literal.size()
                ? name.size() - part.literal.size()
                : name.npos;
    if (end == name.npos) return std::nullopt;
    if (part.is_project) project = name.substr(0, end);
    name.remove_prefix(end + part.literal.size());
  }
  return project;
}

void add_projects(std::vector<WorkloadEnergy>& vms, const std::optional<ProjectPattern>& pattern) {
  for (WorkloadEnergy& vm : vms) {
    if (!vm.key.is_of_the_system()) {
      vm.project = {};
    } else if (vm.project.id.empty() && pattern) {
      const std::string name = pattern->project_of(vm.name).value_or("");
      vm.project = {name, name};
    }
  }
}

}  // namespace keplerd::history
