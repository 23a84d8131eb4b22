// SPDX-License-Identifier: Apache-2.0
#include "meters/counts/wanted_cgroups.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <tuple>

#include <fnmatch.h>

#include "base/parse.h"
#include "host/host_root.h"
#include "usage/cgroup_files.h"

namespace keplerd::meters {
namespace {

constexpr std::size_t kMostVisited = 20'000;
constexpr int kMostLevels = 16;

std::string inside(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "/" + name;
}

bool matches(const std::string& pattern, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD | FNM_NOESCAPE) == 0;
}

using Paths = std::set<std::string, std::less<>>;

bool is_around_any(const std::string& path, const Paths& others) {
  const auto next = others.lower_bound(path + "/");
  return next != others.end() && next->starts_with(path + "/");
}

// Or one of them itself.
bool is_inside_any(std::string_view path, const Paths& others) {
  while (!others.contains(path)) {
    const std::size_t end = path.rfind('/');
    if (end == std::string_view::npos) return false;
    path = path.substr(0, end);
  }
  return true;
}

}  // namespace

bool WantedCgroups::matches_name(const std::string& name) const {
  return std::ranges::any_of(patterns_, [&](const std::string& pattern) {
    return !pattern.starts_with('/') && pattern != kLargest && matches(pattern, name);
  });
}

void WantedCgroups::add(const std::string& path, bool is_named) {
  const int root = *host_.cgroupfs();
  const auto identity = read_identity(root, path.c_str());
  if (!identity) return;
  std::array<char, 4096> buffer;
  const auto stat = read_file(root, (path + "/cpu.stat").c_str(), buffer);
  const auto usage = stat ? parse_cpu_stat(*stat) : Error{};
  const auto last = last_uses_.find(*identity);
  if (usage) {
    Use& use = uses_[*identity] = {*usage, Nanoseconds{0}};
    if (last != last_uses_.end()) use.recent = last->second.recent * 9 / 10 + *usage - last->second.usage;
  }
  if (is_named || (usage && last != last_uses_.end())) found_.push_back({path, *identity, is_named});
}

// Units are in slices, and in nothing else.
void WantedCgroups::visit_slice(const std::string& path, int levels) {
  const bool takes_largest = std::ranges::find(patterns_, kLargest) != patterns_.end();
  const auto names = list_subdirectories(*host_.cgroupfs(), path.empty() ? "." : path.c_str());
  if (!names || levels == 0) return;
  for (const std::string& name : *names) {
    if (left_to_visit_ == 0) return;
    --left_to_visit_;
    const std::string below = inside(path, name);
    if (matches_name(name)) {
      add(below, true);
    } else if (name.ends_with(".slice")) {
      visit_slice(below, levels - 1);
    } else if (takes_largest && (name.ends_with(".service") || name.ends_with(".scope"))) {
      add(below, false);
    }
  }
}

// `pattern`: what is left of it, below `path`.
void WantedCgroups::visit_path(const std::string& path, std::string_view pattern) {
  const std::string level(take_until(pattern, '/'));
  const auto names = list_subdirectories(*host_.cgroupfs(), path.empty() ? "." : path.c_str());
  if (!names) return;
  for (const std::string& name : *names) {
    if (left_to_visit_ == 0) return;
    --left_to_visit_;
    if (!matches(level, name)) continue;
    if (pattern.empty()) {
      add(inside(path, name), true);
    } else {
      visit_path(inside(path, name), pattern);
    }
  }
}

std::vector<WantedCgroup> WantedCgroups::find() {
  if (!host_.cgroupfs()) return {};
  found_.clear();
  uses_.clear();
  for (const std::string& pattern : patterns_) {
    left_to_visit_ = kMostVisited / patterns_.size();
    if (pattern.starts_with('/')) visit_path("", std::string_view(pattern).substr(1));
  }
  left_to_visit_ = kMostVisited;
  visit_slice("", kMostLevels);
  const auto place = [this](const WantedCgroup& one) {
    return std::tuple(!one.is_named, one.is_named ? Nanoseconds{0} : -uses_.at(one.identity).recent,
                      std::string_view(one.path));
  };
  std::ranges::sort(found_, {}, place);
  std::vector<WantedCgroup> wanted;
  Paths taken;
  for (const WantedCgroup& one : found_) {
    if (is_around_any(one.path, taken) || is_inside_any(one.path, taken)) continue;
    taken.insert(one.path);
    wanted.push_back(one);
  }
  last_uses_.swap(uses_);
  return wanted;
}

}  // namespace keplerd::meters
