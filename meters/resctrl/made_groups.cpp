// SPDX-License-Identifier: Apache-2.0
#include "meters/resctrl/made_groups.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/parse.h"
#include "host/host_root.h"
#include "meters/counts/keep_largest.h"
#include "meters/resctrl/groups.h"
#include "meters/resctrl/most_groups.h"
#include "meters/resctrl/threads.h"

namespace keplerd::resctrl {

using meters::WantedCgroup;

namespace {

std::string name_of(std::uint64_t identity) { return fmt::format("{}{}", kOwnPrefix, identity); }

std::optional<std::uint64_t> parse_own_name(std::string_view name) {
  return take_prefix(name, kOwnPrefix) ? parse_number<std::uint64_t>(name) : std::nullopt;
}

}  // namespace

// None if it is gone.
std::optional<Error> MadeGroups::add_tasks(const std::string& group, Threads& threads) const {
  const auto tasks = read_tasks(host_, group);
  if (tasks) threads.insert(tasks->begin(), tasks->end());
  if (tasks || is_gone(tasks.error())) return std::nullopt;
  return Error{.message = "/sys/" + tasks.error().message, .code = tasks.error().code};
}

// The groups that there are, and the threads that are in any group of others.
Result<MadeGroups::Present> MadeGroups::look() const {
  Present present{.own = {}, .of_others = {}, .others = 1};
  const auto monitoring = list_subdirectories(host_.sysfs(), fmt::format("{}/mon_groups", kRoot).c_str());
  if (!monitoring) return Error{.message = "/sys/" + monitoring.error().message};
  for (const std::string& name : *monitoring) {
    const auto identity = parse_own_name(name);
    if (!identity) ++present.others;
    auto error = add_tasks("mon_groups/" + name, identity ? present.own[*identity] : present.of_others);
    if (error) return *std::move(error);
  }
  const auto control = list_subdirectories(host_.sysfs(), kRoot);
  if (!control) return Error{.message = "/sys/" + control.error().message};
  for (const std::string& name : *control) {
    if (name == "info" || name == "mon_data" || name == "mon_groups") continue;
    const auto inside =
        list_subdirectories(host_.sysfs(), fmt::format("{}/{}/mon_groups", kRoot, name).c_str());
    present.others += 1 + (inside ? inside->size() : 0);
    if (auto error = add_tasks(name, present.of_others)) return *std::move(error);  // those inside it, too
  }
  return present;
}

// Whether it is in the default group, or in one of ours, now: somebody else may have moved it since look().
bool MadeGroups::may_move(std::int32_t thread) {
  const auto membership = read_membership(host_, thread);
  if (!membership) {
    // A kernel that does not show the groups of threads; or the thread has ended.
    const bool is_there = read_identity(host_.procfs(), std::to_string(thread).c_str()).ok();
    if (is_there || !is_gone(membership.error())) note(membership.error());
    return false;
  }
  return membership->control == "/" &&
         (membership->monitoring.empty() || parse_own_name(membership->monitoring));
}

// Those that have ended meanwhile do not matter.
void MadeGroups::move(const Threads& threads, const Threads& except, const std::string& name) {
  for (const std::int32_t thread : threads) {
    if (except.contains(thread) || !may_move(thread)) continue;
    const auto moved = files_.move(thread, name);
    if (!moved && !is_gone(moved.error())) note(moved);
  }
}

// Those that have threads, of which none is in a group of others.
std::vector<MadeGroups::Chosen> MadeGroups::find_eligible(const std::vector<WantedCgroup>& wanted,
                                                          const Present& present) {
  std::vector<Chosen> eligible;
  for (const WantedCgroup& cgroup : wanted) {
    Threads threads = threads_in(host_, cgroup.path);
    const auto is_others = [&](std::int32_t thread) { return present.of_others.contains(thread); };
    if (std::ranges::any_of(threads, is_others)) {
      outcome_.others.push_back(cgroup.path);
    } else if (!threads.empty()) {
      eligible.push_back({&cgroup, std::move(threads)});
    }
  }
  return eligible;
}

// All that are named, and of the others as many as may have groups.
std::vector<MadeGroups::Chosen> MadeGroups::choose(std::vector<Chosen> eligible,
                                                   const Present& present) const {
  const auto is_named = [](const Chosen& one) { return one.cgroup->is_named; };
  const auto named = static_cast<std::size_t>(std::ranges::count_if(eligible, is_named));
  const std::size_t most = most_groups(host_).value_or(0) / 2;  // libvirt and container runtimes need some
  const std::size_t used = present.others + named;
  meters::keep_largest(eligible, named, most > used ? most - used : 0,
                       [&](const Chosen& one) { return present.own.contains(one.cgroup->identity); });
  return eligible;
}

bool MadeGroups::remove(std::uint64_t identity, Present& present) {
  return note(files_.remove(name_of(identity))) && present.own.erase(identity) > 0;
}

// Threads leave a group before they enter another one.
void MadeGroups::empty(const std::vector<Chosen>& chosen, Present& present) {
  const std::map<std::uint64_t, Threads> own = present.own;
  for (const auto& [identity, threads] : own) {
    const auto known =
        std::ranges::find(chosen, identity, [](const Chosen& one) { return one.cgroup->identity; });
    if (known == chosen.end()) {
      remove(identity, present);
    } else {
      move(threads, known->threads, "");
    }
  }
}

// If the hardware has no more groups, the last one of those that nobody has named is removed for one that
// somebody has.
Result<Done> MadeGroups::make(const WantedCgroup& cgroup, const std::vector<Chosen>& chosen,
                              Present& present) {
  if (present.own.contains(cgroup.identity)) return Done{};
  auto made = files_.make(name_of(cgroup.identity));
  if (!made && made.error().code == ENOSPC && cgroup.is_named) {
    const auto last = std::find_if(chosen.rbegin(), chosen.rend(), [&](const Chosen& one) {
      return !one.cgroup->is_named && present.own.contains(one.cgroup->identity);
    });
    if (last != chosen.rend() && remove(last->cgroup->identity, present))
      made = files_.make(name_of(cgroup.identity));
  }
  if (made) present.own.emplace(cgroup.identity, Threads{});
  return made;
}

bool MadeGroups::note(const Result<Done>& done) {
  if (!done && outcome_.problem.empty()) outcome_.problem = done.error().message;
  return done.ok();
}

// New threads are in the group of the one that created them, but threads can also come from elsewhere. EBUSY:
// groups have been removed, but their RMIDs are still in use by cache lines; later, there will be some.
const MadeGroups::Outcome& MadeGroups::follow(const std::vector<WantedCgroup>& wanted) {
  outcome_ = {};
  auto present = look();
  if (!present) {
    outcome_.problem = present.error().message;
    return outcome_;
  }
  const std::vector<Chosen> chosen = choose(find_eligible(wanted, *present), *present);
  empty(chosen, *present);
  int hindrance = 0;
  for (const auto& [cgroup, threads] : chosen) {
    const bool is_hindered = hindrance != 0 && !present->own.contains(cgroup->identity);
    const Result<Done> made =
        is_hindered ? Error{.message = "", .code = hindrance} : make(*cgroup, chosen, *present);
    if (made) {
      ++outcome_.made;
      move(threads, present->own.at(cgroup->identity), name_of(cgroup->identity));
    } else if (made.error().code == ENOSPC || made.error().code == EBUSY) {
      hindrance = made.error().code;
      ++(hindrance == ENOSPC ? outcome_.refused : outcome_.waiting);
    } else {
      note(made);
    }
  }
  return outcome_;
}

Result<Done> MadeGroups::remove_all() {
  follow({});
  if (outcome_.problem.empty()) return Done{};
  return Error{.message = outcome_.problem};
}

}  // namespace keplerd::resctrl
