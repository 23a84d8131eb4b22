// SPDX-License-Identifier: Apache-2.0
// Rows show of which zones the hardware has counted a workload's use.
#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "attribution/make_model.h"
#include "daemon/log.h"
#include "daemon/vm_host.h"
#include "host/host_root.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class Counted : public VmTest {
 protected:
  Counted() {
    host.files.add_cgroup("/a.service");
    host.files.add_process({.pid = 10, .comm = "a", .cgroup = "/a.service"});
    start_in_scope(20);
    use(10, "/a.service", 0);
    use(20, kScope, 0);
    report(0);  // before keplerd looks for the directory
    host.begin();
    host.meter().set_model(make_model({.split = ModelRules::Split::kUsageRatio}));
  }
  // A window in which both run for as long. What is counted of the VM's cgroup, of 8 J of all cores.
  void window(std::int64_t microjoules_of_vm) {
    use(10, "/a.service", 50);
    use(20, kScope, 50);
    all_ += 8'000'000;
    of_vm_ += microjoules_of_vm;
    report(to_usec(host.now.boottime + 1s));
    step(20'000'000);
  }
  void report(std::int64_t time_usec) {
    const HostRoot root = host.files.open();
    const auto scope = read_identity(*root.cgroupfs(), std::string(kScope).substr(1).c_str());
    host.files.write("root/run/keplerd-usage/resctrl/cores-0",
                     fmt::format("{} 0 {}\n{} {} 0\n", time_usec, all_, *scope, of_vm_));
  }
  bool is_counted(const WorkloadRow& row, std::size_t zone = 0) { return row.zones[zone].is_counted; }

  std::int64_t all_ = 0, of_vm_ = 0;
};

TEST_F(Counted, IsTheZoneOfTheGroupThatIsMeasuredAndOfItsVm) {
  window(6'000'000);
  EXPECT_FALSE(is_counted(host.unit(kScope))) << "there is one reading";
  window(6'000'000);
  EXPECT_TRUE(is_counted(host.unit(kScope)));
  EXPECT_TRUE(is_counted(*host.vm(kUuid)));
  EXPECT_FALSE(is_counted(host.unit(kScope), 1)) << "memory is another zone";
  EXPECT_FALSE(is_counted(host.unit("/a.service")));
  EXPECT_FALSE(is_counted(host.unit("/machine.slice"))) << "what is not measured might be in it, too";
  step(20'000'000);
  EXPECT_FALSE(is_counted(*host.vm(kUuid))) << "it has not run";
}

TEST_F(Counted, AFileThatIsNotReadIsLoggedOnce) {
  host.files.write("root/run/keplerd-usage/resctrl/core-0", "a name that is wrong\n");
  open_log(LogLevel::kInfo);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 30; ++i) window(0);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(log.find("keplerd: warning: /run/keplerd-usage/resctrl/core-0: is neither a PCI address"), 0U)
      << log;
  EXPECT_EQ(std::ranges::count(log, '\n'), 1) << log;
}

TEST_F(Counted, EnergyIsThatOfTheCoresAndAPartOfTheRest) {
  window(0);
  const Microjoules before = energy(kUuid);
  window(6'000'000);
  // Of 10 J that are active, 8 J are those of the cores.
  EXPECT_EQ(energy(kUuid) - before, Microjoules{6'000'000 + 1'000'000});
}

}  // namespace
}  // namespace keplerd
