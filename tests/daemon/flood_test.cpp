// SPDX-License-Identifier: Apache-2.0
// More than can be tracked: what is reported still adds up in each report, by its rows alone (MeterHost
// checks it).
#include <gtest/gtest.h>

#include "daemon/log.h"
#include "daemon/meter_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

// A neighbour that uses 100 ms in each window, of 1 s and 40 J, and what the bomb uses in it.
class Flood : public testing::Test {
 protected:
  void SetUp() override {
    host_.limits.groups.groups = 5;
    host_.limits.processes = {.all = 6, .in_group = 4};
    host_.files.add_cgroup("/neighbour.service", 0);
    host_.files.add_process({.pid = 10, .comm = "neighbour", .cgroup = "/neighbour.service"});
    host_.files.add_cgroup("/bomb.service", 0);
    host_.files.add_process({.pid = 11, .comm = "shell", .cgroup = "/bomb.service"});
    host_.begin();
  }

  const Report& window(std::chrono::milliseconds bomb) {
    host_.draw(40'000'000);
    host_.files.set_cgroup_usage("/neighbour.service", neighbour_ += 100'000);
    host_.files.set_process_time(10, neighbour_ / 10'000);
    host_.files.set_cgroup_usage("/bomb.service", bomb_ += std::chrono::microseconds(bomb).count());
    return host_.step();
  }

  MeterHost host_;
  std::int64_t neighbour_ = 0, bomb_ = 0;
};

TEST_F(Flood, OfProcessesCostsTheirUnitOnlyAndNothingIsLost) {
  for (pid_t pid = 100; pid < 150; ++pid)
    host_.files.add_process({.pid = pid, .comm = "bomb", .cgroup = "/bomb.service"});
  host_.files.set_process_time(11, 10);
  const Report& flooded = window(900ms);
  EXPECT_EQ(flooded.processes_left_out, 47U);
  EXPECT_EQ(host_.view().processes->rows.size(), 5U);
  EXPECT_EQ(host_.unit("/neighbour.service").active.value, 2'000'000);
  EXPECT_EQ(host_.process(10)->active.value, 2'000'000);
  EXPECT_EQ(host_.unit("/bomb.service").active.value, 18'000'000);
  EXPECT_EQ(host_.process(11)->active.value, 2'000'000);  // known processes are still tracked
  EXPECT_EQ(host_.unit("/bomb.service").other.value, 16'000'000);

  // A new process elsewhere.
  host_.files.add_process({.pid = 12, .comm = "new", .cgroup = "/neighbour.service"});
  window(900ms);
  EXPECT_NE(host_.process(12), nullptr);

  for (pid_t pid = 100; pid < 150; ++pid) host_.files.remove_process(pid);
  host_.files.set_process_time(11, 20);
  const Report& over = window(100ms);
  EXPECT_EQ(over.processes_left_out, 0U);
  EXPECT_EQ(host_.view().processes->rows.size(), 3U);
  EXPECT_EQ(host_.process(11)->active.value, 2'000'000 + 10'000'000);
  EXPECT_EQ(host_.unit("/bomb.service").active.value, 46'000'000);
  EXPECT_EQ(host_.unit("/neighbour.service").active.value, 14'000'000);
  EXPECT_EQ(over.host.energy.value, 120'000'000);
}

TEST_F(Flood, OfCgroupsIsCountedInTheOneAboveThem) {
  for (int i = 0; i < 20; ++i) host_.files.add_cgroup("/bomb.service/" + std::to_string(i), 0);
  window(0ms);
  window(0ms);  // new processes are known by now, or left out
  for (int usage : {45'000, 90'000}) {
    for (int i = 0; i < 20; ++i) host_.files.set_cgroup_usage("/bomb.service/" + std::to_string(i), usage);
    const Report& flooded = window(900ms);
    EXPECT_EQ(flooded.groups_left_out, 17U);
    EXPECT_EQ(flooded.units.size(), 5U);
  }
  EXPECT_EQ(host_.unit("/bomb.service").active.value, 36'000'000);
  EXPECT_EQ(host_.unit("/bomb.service").own.value, 36'000'000 - 3 * 1'800'000);

  // Those tracked from now on start with what they use from now on.
  for (int i = 0; i < 17; ++i) host_.files.remove_cgroup("/bomb.service/" + std::to_string(i));
  const Report& over = window(900ms);
  EXPECT_EQ(over.groups_left_out, 0U);
  for (const char* id : {"/bomb.service/17", "/bomb.service/18", "/bomb.service/19"})
    EXPECT_EQ(host_.unit(id).power->value, 0) << id;
  EXPECT_EQ(host_.unit("/bomb.service").active.value, 54'000'000);
  EXPECT_EQ(over.host.energy.value, 200'000'000);
}

TEST_F(Flood, IsLoggedWhenItBeginsAndWhenItEnds) {
  open_log(LogLevel::kInfo);
  testing::internal::CaptureStderr();
  for (pid_t pid = 100; pid < 150; ++pid)
    host_.files.add_process({.pid = pid, .comm = "bomb", .cgroup = "/bomb.service"});
  for (int i = 0; i < 20; ++i) host_.files.add_cgroup("/bomb.service/" + std::to_string(i), 0);
  for (int i = 0; i < 3; ++i) window(900ms);
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "keplerd: warning: cgroups: too many, or nested too deeply: some have no rows and are counted in "
      "their parents\n"
      "keplerd: warning: processes: too many: some have no rows, and their energy is counted in the other "
      "account of their units\n");
  testing::internal::CaptureStderr();
  for (pid_t pid = 100; pid < 150; ++pid) host_.files.remove_process(pid);
  for (int i = 0; i < 20; ++i) host_.files.remove_cgroup("/bomb.service/" + std::to_string(i));
  for (int i = 0; i < 3; ++i) window(900ms);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "keplerd: info: cgroups: all have rows again\n"
            "keplerd: info: processes: all have rows again\n");
}

}  // namespace
}  // namespace keplerd
