// SPDX-License-Identifier: Apache-2.0
#include "meters/resctrl/made_groups.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/parse.h"
#include "host/host_root.h"
#include "meters/resctrl/groups.h"
#include "meters/resctrl/threads.h"

namespace keplerd::resctrl {
namespace {

std::string name_of(std::uint64_t identity) { return fmt::format("{}{}", kOwnPrefix, identity); }

std::optional<std::uint64_t> parse_own_name(std::string_view name) {
  return take_prefix(name, kOwnPrefix) ? parse_number<std::uint64_t>(name) : std::nullopt;
}

// None if it is gone.
std::set<std::int32_t> tasks_of(const HostRoot& host, const std::string& group) {
  const auto threads = read_tasks(host, group);
  return threads ? std::set<std::int32_t>(threads->begin(), threads->end()) : std::set<std::int32_t>();
}

}  // namespace

// The monitoring groups of the default group, and the threads that are in any group of others.
Result<MadeGroups::Present> MadeGroups::look() const {
  Present present;
  const auto monitoring = list_subdirectories(host_.sysfs(), fmt::format("{}/mon_groups", kRoot).c_str());
  if (!monitoring) return Error{.message = "/sys/" + monitoring.error().message};
  for (const std::string& name : *monitoring) {
    ++present.count;
    Threads tasks = tasks_of(host_, "mon_groups/" + name);
    if (const auto identity = parse_own_name(name)) {
      present.own[*identity] = std::move(tasks);
    } else {
      present.of_others.merge(tasks);
    }
  }
  const auto control = list_subdirectories(host_.sysfs(), kRoot);
  for (const std::string& name : control ? *control : std::vector<std::string>()) {
    if (name == "info" || name == "mon_data" || name == "mon_groups") continue;
    present.of_others.merge(tasks_of(host_, name));  // those inside it, too
  }
  present.most_of_largest = most_of_largest();
  return present;
}

// Half of what the hardware has: libvirt and container runtimes need some.
std::size_t MadeGroups::most_of_largest() const {
  for (const char* const kind : {"L3_MON", "PERF_PKG_MON"}) {
    std::array<char, 32> buffer;
    const auto text =
        read_file(host_.sysfs(), fmt::format("{}/info/{}/num_rmids", kRoot, kind).c_str(), buffer);
    if (const auto number = text ? parse_number<std::size_t>(trim(*text)) : std::nullopt) return *number / 2;
  }
  return 0;
}

// Those that have ended meanwhile do not matter.
Result<Done> MadeGroups::move(const Threads& threads, const Threads& except, const std::string& name) {
  for (const std::int32_t thread : threads) {
    if (except.contains(thread)) continue;
    auto moved = files_.move(thread, name);
    if (!moved && !is_gone(moved.error())) return moved;
  }
  return Done{};
}

// Those that have threads, of which none is in a group of others.
MadeGroups::Eligible MadeGroups::find_eligible(const std::vector<WantedCgroup>& wanted,
                                               const Present& present) {
  Eligible eligible;
  for (const WantedCgroup& cgroup : wanted) {
    Threads threads = threads_in(host_, cgroup.path);
    const auto is_others = [&](std::int32_t thread) { return present.of_others.contains(thread); };
    if (std::ranges::any_of(threads, is_others)) {
      outcome_.others.push_back(cgroup.path);
    } else if (!threads.empty()) {
      eligible.emplace(cgroup.identity, std::move(threads));
    }
  }
  return eligible;
}

// Threads leave a group before they enter another one.
void MadeGroups::empty(const Eligible& eligible, Present& present) {
  for (auto own = present.own.begin(); own != present.own.end();) {
    const auto known = eligible.find(own->first);
    if (known != eligible.end()) {
      note(move(own->second, known->second, ""));
    } else if (note(files_.remove(name_of(own->first)))) {
      --present.count;
      own = present.own.erase(own);
      continue;
    }
    ++own;
  }
}

// Whether the cgroup has a group now.
bool MadeGroups::make(const WantedCgroup& cgroup, Present& present) {
  if (present.own.contains(cgroup.identity)) return true;
  const bool has_place =
      outcome_.refused == 0 && (cgroup.is_named || present.count < present.most_of_largest);
  const auto made = has_place ? files_.make(name_of(cgroup.identity)) : Error{.message = "", .code = ENOSPC};
  if (!made && made.error().code == ENOSPC) {
    ++outcome_.refused;
    return false;
  }
  if (!note(made)) return false;
  ++present.count;
  present.own.emplace(cgroup.identity, Threads{});
  return true;
}

bool MadeGroups::note(const Result<Done>& done) {
  if (!done && outcome_.problem.empty()) outcome_.problem = done.error().message;
  return done.ok();
}

// New threads are in the group of the one that created them, but threads can also come from elsewhere.
const MadeGroups::Outcome& MadeGroups::follow(const std::vector<WantedCgroup>& wanted) {
  outcome_ = {};
  auto present = look();
  if (!present) {
    outcome_.problem = present.error().message;
    return outcome_;
  }
  const Eligible eligible = find_eligible(wanted, *present);
  empty(eligible, *present);
  for (const WantedCgroup& cgroup : wanted) {
    const auto threads = eligible.find(cgroup.identity);
    if (threads == eligible.end() || !make(cgroup, *present)) continue;
    ++outcome_.made;
    note(move(threads->second, present->own.at(cgroup.identity), name_of(cgroup.identity)));
  }
  return outcome_;
}

Result<Done> MadeGroups::remove_all() {
  follow({});
  if (outcome_.problem.empty()) return Done{};
  return Error{.message = outcome_.problem};
}

}  // namespace keplerd::resctrl
