// SPDX-License-Identifier: Apache-2.0
#include "workloads/cgroup_workload.h"

#include <algorithm>
#include <utility>

#include "base/parse.h"
#include "workloads/cgroup_name.h"
#include "workloads/identifier.h"

namespace keplerd {
namespace {

// Goes down a path, one cgroup at a time.
class Descent {
 public:
  // `line`: as recognise_cgroup takes it.
  explicit Descent(std::string_view line) : path_(without_hierarchy(line)) {}

  // Goes on to the next cgroup; false at the end.
  bool next() {
    const auto begin = path_.find_first_not_of('/', end_);
    if (begin == path_.npos) return false;
    end_ = std::min(path_.find('/', begin), path_.size());
    step(path_.substr(begin, end_ - begin));
    return true;
  }

  CgroupWorkload& here() { return here_; }
  std::string_view path() const { return path_.substr(0, end_); }

 private:
  // Takes "0::" or "13:hugetlb:" off a path; a relative path that merely begins like one stays as it is.
  static std::string_view without_hierarchy(std::string_view line) {
    std::string_view rest = line;
    if (line.starts_with('/') || !is_digits(take_until(rest, ':')) || rest.find(':') == rest.npos)
      return line;
    take_until(rest, ':');
    return rest.starts_with('/') ? rest : line;
  }

  void step(std::string_view name) {
    UnitName group = name_unit(name);
    std::optional<CgroupWorkload> found = recognise_name(above_, name);
    if (found) {
      here_ = std::move(*found);
      if (here_.kind == CgroupKind::kContainer && here_.pod.empty()) here_.pod = above_.pod;
    } else {
      here_ =
          CgroupWorkload{.kind = group.is_unit ? CgroupKind::kUnit : CgroupKind::kGroup, .name = group.name};
    }
    here_.group = std::move(group);
    go_below(name, found.has_value());
  }

  // For the next cgroup: inside a container or a VM nothing counts that is outside.
  void go_below(std::string_view name, bool is_workload) {
    if (is_workload) {
      const bool is_pod = here_.kind == CgroupKind::kPod;
      above_ = AboveCgroup{.pod = is_pod ? here_.id : std::string(), .pod_is_here = is_pod};
      return;
    }
    above_.grandparent = above_.parent;
    above_.parent = name;
    above_.pod_is_here = false;
    above_.in_ecs = above_.in_ecs || name == "ecs";
    above_.in_nomad = above_.in_nomad || name == "nomad.slice" || name == "nomad";
  }

  std::string_view path_;
  std::size_t end_ = 0;
  AboveCgroup above_;
  CgroupWorkload here_{.name = "/"};
};

}  // namespace

CgroupWorkload recognise_cgroup(std::string_view path) {
  Descent descent(path);
  while (descent.next()) {
  }
  return std::move(descent.here());
}

std::vector<EnclosingWorkload> enclosing_workloads(std::string_view path) {
  std::vector<EnclosingWorkload> chain;
  Descent descent(path);
  while (descent.next()) {
    const CgroupKind kind = descent.here().kind;
    if (kind == CgroupKind::kGroup || kind == CgroupKind::kUnit) continue;
    chain.push_back({descent.path(), descent.here()});
  }
  return chain;
}

}  // namespace keplerd
