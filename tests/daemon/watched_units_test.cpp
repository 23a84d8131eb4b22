// SPDX-License-Identifier: Apache-2.0
// Units that clients measure: they keep what has ended in them.
#include <gtest/gtest.h>

#include "daemon/meter_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr const char* kUnit = "/user.slice/user-1000.slice/run.scope";
constexpr const char* kBelow = "/user.slice/user-1000.slice/run.scope/inner";

// Processes use 1 J each and end; the limits keep none of them.
class Watched : public testing::Test {
 protected:
  Watched() {
    for (const char* path : {"/user.slice", "/user.slice/user-1000.slice", kUnit, kBelow})
      host.files.add_cgroup(path, 0);
    host.begin();
    host.meter().set_limits({.max = 0});
  }

  void run_processes(const std::string& cgroup, int count = 1) {
    const pid_t first = next_pid_;
    next_pid_ += count;
    for (pid_t pid = first; pid < next_pid_; ++pid)
      host.files.add_process({.pid = pid, .cgroup = cgroup, .user = 1000, .real_user = 1000});
    host.step();
    for (pid_t pid = first; pid < next_pid_; ++pid) host.files.set_process_time(pid, 1);
    for (std::string path = cgroup; !path.empty(); path.erase(path.rfind('/')))
      host.files.set_cgroup_usage(path, usage_[path] += count * 10'000);
    host.draw(count * 2'000'000);  // half of it idle
    host.step();
    for (pid_t pid = first; pid < next_pid_; ++pid) host.files.remove_process(pid);
    host.step();
  }
  std::size_t kept() { return host.view().processes->rows.size(); }

  MeterHost host;

 private:
  pid_t next_pid_ = 100;
  std::map<std::string, std::int64_t> usage_;
};

TEST_F(Watched, ItsEndedProcessesAreKeptUntilItIsWatchedNoMore) {
  host.meter().set_watched({{.id = kUnit}});
  run_processes(kUnit, 3);
  EXPECT_EQ(kept(), 3u);
  EXPECT_EQ(host.unit(kUnit).other.value, 0);
  const Microjoules own = host.unit(kUnit).own;
  EXPECT_GT(own.value, 0);
  host.meter().set_watched({});
  host.step();
  EXPECT_EQ(kept(), 0u);
  EXPECT_EQ(host.unit(kUnit).other, own);
}

TEST_F(Watched, SoAreThoseBelowIt) {
  host.meter().set_watched({{.id = kUnit}});
  run_processes(kBelow, 2);
  EXPECT_EQ(kept(), 2u);
}

TEST_F(Watched, ThoseElsewhereAreNot) {
  host.meter().set_watched({{.id = kBelow}});
  run_processes(kUnit);
  EXPECT_EQ(kept(), 0u);
}

TEST_F(Watched, AUserKeepsNothingInUnitsOfOthers) {
  host.meter().set_watched({{.id = kUnit, .user = Uid{1001}}});
  run_processes(kUnit);
  EXPECT_EQ(kept(), 0u);
  host.meter().set_watched({{.id = kUnit, .user = Uid{1000}}});
  run_processes(kUnit);
  EXPECT_EQ(kept(), 1u);
}

TEST_F(Watched, OfOneUserOnlySoManyAreKept) {
  host.meter().set_watched({{.id = kUnit}});
  run_processes(kUnit, WatchedUnits::kMostProcesses + 5);
  EXPECT_EQ(kept(), WatchedUnits::kMostProcesses);
  EXPECT_GT(host.unit(kUnit).other.value, 0);
}

TEST_F(Watched, TheUnitItselfIsKeptAfterItsEnd) {
  host.meter().set_watched({{.id = kUnit}});
  run_processes(kUnit);
  const Microjoules energy = host.unit(kUnit).active;
  host.files.remove_cgroup(kBelow);
  host.files.remove_cgroup(kUnit);
  host.step();
  EXPECT_FALSE(host.unit(kUnit).running);
  EXPECT_EQ(host.unit(kUnit).active, energy);
  EXPECT_EQ(kept(), 1u);
}

}  // namespace
}  // namespace keplerd
