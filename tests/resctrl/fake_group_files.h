// SPDX-License-Identifier: Apache-2.0
// Changes a written resctrl tree as the kernel would: a thread is in one group, and there are only so many.
#pragma once

#include <cerrno>
#include <filesystem>
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
    if (groups.size() == most) return Error{.message = "no space", .code = ENOSPC};
    if (!groups.emplace(name, std::set<int>()).second) return Error{.message = "exists", .code = EEXIST};
    tree_.add("mon_groups/" + name);
    return Done{};
  }
  Result<Done> remove(const std::string& name) override {
    if (groups.erase(name) == 0) return Error{.message = "gone", .code = ENOENT};
    tree_.remove("mon_groups/" + name);
    return Done{};
  }
  Result<Done> move(std::int32_t thread, const std::string& name) override {
    if (ended.contains(thread)) return Error{.message = "gone", .code = ESRCH};
    for (auto& [group, threads] : groups)
      if (threads.erase(thread) > 0) write(group);
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
  }
  void set_rmids(std::size_t count) {
    fake_.write("sys/fs/resctrl/info/L3_MON/num_rmids", std::to_string(count) + "\n");
  }

  std::map<std::string, std::set<int>> groups;  // monitoring groups of the default group
  std::size_t most = 100;
  std::set<int> ended;

 private:
  void write(const std::string& group) {
    tree_.set_tasks("mon_groups/" + group, std::vector<int>(groups[group].begin(), groups[group].end()));
  }

  FakeHost& fake_;
  Tree tree_;
};

}  // namespace keplerd::resctrl
