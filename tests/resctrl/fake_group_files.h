// SPDX-License-Identifier: Apache-2.0
// Changes a written resctrl tree as the kernel would: a thread is in one group, and there are only so many.
#pragma once

#include <cerrno>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "meters/resctrl/group_files.h"
#include "resctrl/tree.h"

namespace keplerd::resctrl {

class FakeGroupFiles final : public GroupFiles {
 public:
  explicit FakeGroupFiles(FakeHost& fake) : fake_(fake), tree_(fake, 0) {}

  Result<Done> make(const std::string& name) override {
    if (before_make) before_make();
    if (groups.size() + in_limbo >= most)
      return Error{.message = "no space", .code = in_limbo > 0 ? EBUSY : ENOSPC};
    if (!groups.emplace(name, std::set<int>()).second) return Error{.message = "exists", .code = EEXIST};
    tree_.add("mon_groups/" + name);
    return Done{};
  }
  Result<Done> remove(const std::string& name) override {
    const auto group = groups.find(name);
    if (group == groups.end()) return Error{.message = "gone", .code = ENOENT};
    for (const int thread : group->second) note_membership(thread, "");
    groups.erase(group);
    tree_.remove("mon_groups/" + name);
    if (stays_in_limbo) ++in_limbo;
    return Done{};
  }
  Result<Done> move(std::int32_t thread, const std::string& name) override {
    if (ended.contains(thread)) return Error{.message = "gone", .code = ESRCH};
    for (auto& [group, threads] : groups)
      if (threads.erase(thread) > 0) write(group);
    note_membership(thread, name);
    if (name.empty()) return Done{};
    groups.at(name).insert(thread);
    write(name);
    return Done{};
  }
  // Another program's.
  void add(const std::string& name, const std::set<int>& threads) {
    EXPECT_TRUE(make(name));
    groups[name] = threads;
    write(name);
    for (const int thread : threads) note_membership(thread, name);
  }
  // The group of a thread, if it is in another control group than the default one.
  void note_membership(int thread, const std::string& name, const std::string& control = "/") {
    fake_.write(fmt::format("proc/{}/cpu_resctrl_groups", thread),
                fmt::format("res:{}\nmon:{}\n", control, name));
  }
  void set_rmids(std::size_t count) {
    fake_.write("sys/fs/resctrl/info/L3_MON/num_rmids", std::to_string(count) + "\n");
  }

  std::map<std::string, std::set<int>> groups;  // monitoring groups of the default group
  std::size_t most = 100;                       // of these
  bool stays_in_limbo = false;                  // whether the RMID of a group that is removed stays in use
  std::size_t in_limbo = 0;                     // of these
  std::function<void()> before_make = {};
  std::set<int> ended;

 private:
  void write(const std::string& group) {
    tree_.set_tasks("mon_groups/" + group, std::vector<int>(groups[group].begin(), groups[group].end()));
  }

  FakeHost& fake_;
  Tree tree_;
};

}  // namespace keplerd::resctrl
