// SPDX-License-Identifier: Apache-2.0
// Totals of the system's own VMs and services outlast the limits for ended workloads.
#include "daemon/vm_host.h"
#include "ledger/state.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class Retention : public VmTest {
 protected:
  void begin(TerminatedLimits limits, Ledger ledger = Ledger("instance", Realtime(1))) {
    host.begin({}, std::move(ledger));
    host.meter().set_limits(limits);
  }
  // A second in which the VM draws 5 J.
  void work() {
    use(100, kScope, 50);
    step(10'000'000);
  }
  void end() {
    end_in_scope(100);
    group_used.erase(kScope);
    used.erase(100);
    step(0);
  }
  void stop_unit(const std::string& unit) {
    host.files.remove_cgroup(unit);
    host.step();
  }
};

TEST_F(Retention, AVmWithoutARowContinuesItsTotalWhenItIsStartedAgain) {
  start_in_scope(100);
  begin({.retention = 60s});
  work();
  end();
  host.step(1h);
  EXPECT_EQ(host.vm(kUuid), nullptr);
  host.step(std::chrono::hours(24 * 300));
  start_in_scope(100, qemu("web", kUuid), 777);
  host.step();
  work();
  EXPECT_EQ(energy(kUuid).value, 10'000'000);
}

TEST_F(Retention, HoweverLittleAVmDrewAndHoweverManyOthersThereAre) {
  start_in_scope(100);
  begin({.max = 0, .min_energy = {100'000'000}});
  work();
  end();
  EXPECT_EQ(host.vm(kUuid), nullptr);
  start_in_scope(100, qemu("web", kUuid), 777);
  host.step();
  work();
  EXPECT_EQ(energy(kUuid).value, 10'000'000);
}

TEST_F(Retention, AcrossARestartOfKeplerd) {
  start_in_scope(100);
  begin({.retention = 60s});
  work();
  end();
  host.step(1h);
  const auto saved = parse_state(format_state(host.meter().state()));
  ASSERT_TRUE(saved.ok());
  begin({.retention = 60s}, Ledger(*saved, "another"));
  host.step();
  EXPECT_EQ(host.vm(kUuid), nullptr);
  start_in_scope(100, qemu("web", kUuid), 777);
  host.step();
  work();
  EXPECT_EQ(energy(kUuid).value, 10'000'000);
}

TEST_F(Retention, AfterItTheTotalOfAVmStartsAtZero) {
  start_in_scope(100);
  begin({.retention = 60s, .vm_retention = 30 * 24h});
  work();
  end();
  host.step(31 * 24h);
  host.step();
  start_in_scope(100, qemu("web", kUuid), 777);
  host.step();
  work();
  EXPECT_EQ(energy(kUuid).value, 5'000'000);
}

TEST_F(Retention, IsNotForVmsThatAnyoneCanStart) {
  host.files.add_process({.pid = 100, .comm = "qemu-system-x86", .cmdline = qemu("web", kUuid)});
  begin({.retention = 60s});
  work();
  host.files.remove_process(100);
  step(0);
  host.step(1h);
  EXPECT_TRUE(host.meter().ledger().vms().all().empty());
}

TEST_F(Retention, AServiceOfTheSystemKeepsItsTotalAndItsSlice) {
  for (const char* const unit : {"/s.slice", "/s.slice/trim.service", "/s.slice/run-u1.service",
                                 "/s.slice/dump@1.service", "/s.slice/a.scope"})
    host.files.add_cgroup(unit);
  begin({.max = 0, .retention = 60s});
  host.files.set_cgroup_usage("/s.slice", 100'000);
  host.files.set_cgroup_usage("/s.slice/trim.service", 100'000);
  step(20'000'000);
  stop_unit("/s.slice");
  host.step(1h);
  ASSERT_EQ(host.meter().report()->units.size(), 2u);
  EXPECT_EQ(host.unit("/s.slice").active.value, 10'000'000);
  EXPECT_EQ(host.unit("/s.slice/trim.service").active.value, 10'000'000);
  host.step(std::chrono::hours(24 * 366));
  host.step();
  EXPECT_TRUE(host.meter().report()->units.empty());
}

TEST_F(Retention, AServiceOfAUserIsKeptAsLongAsAnyUnit) {
  const std::string unit = "/user.slice/user-1000.slice/user@1000.service/app.slice/mine.service";
  host.files.add_cgroup(unit);
  begin({.max = 0, .retention = 60s});
  step(20'000'000);
  stop_unit("/user.slice");
  EXPECT_TRUE(host.meter().report()->units.empty());
}

}  // namespace
}  // namespace keplerd
