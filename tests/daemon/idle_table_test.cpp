// SPDX-License-Identifier: Apache-2.0
// The table of docs/idle.md, computed.
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "daemon/vm_host.h"

namespace keplerd {
namespace {

constexpr const char* kBackup = "/system.slice/backup.service";
constexpr const char* kShop = "/machine.slice/machine-qemu\\x2d1\\x2dshop.scope";
constexpr const char* kTest = "/machine.slice/machine-qemu\\x2d2\\x2dtest.scope";

class IdlePolicies : public VmTest {
 protected:
  // The line of the table.
  std::string line_of(const char* name, IdlePlacing placing) {
    begin(placing);
    use(20, kShop, 300);
    use(30, kBackup, 100);
    step(80'000'000);
    const auto watts = [](Microwatts power) { return static_cast<double>(power.value) / 1e6; };
    std::string line = fmt::format("| {:8} |", name);
    for (const char* const unit : {kShop, kTest, kBackup}) {
      const UnitRow& row = host.unit(unit);
      const Microwatts idle = row.idle_power.value_or(Microwatts{});
      line += fmt::format(" {:4.1f} + {:4.1f} |", watts(row.power.value() - idle), watts(idle));
    }
    const Microjoules left = host.meter().report()->accounts.idle - idle_before;
    return line + fmt::format(" {:15.1f} |\n", static_cast<double>(left.value) / 1e6);
  }

 private:
  void begin(IdlePlacing placing) {
    host.cpus.resize(8);
    host.files.write("proc/meminfo", "MemTotal: 33554432 kB\n");
    add_vm(20, kShop, kUuid, "2", "8G");
    add_vm(21, kTest, kOther, "1", "4G");
    host.files.add_cgroup(kBackup);
    host.files.add_process({.pid = 30, .cgroup = kBackup});
    host.begin();
    host.meter().set_idle_placing(placing);
    step(2'000'000);  // VMs are as large as the window before says
    idle_before = host.meter().report()->accounts.idle;
  }
  void add_vm(pid_t pid, const char* scope, const char* uuid, const char* vcpus, const char* memory) {
    host.files.add_cgroup(scope);
    host.files.add_process(
        {.pid = pid,
         .comm = "qemu-system-x86",
         .cgroup = scope,
         .cmdline = command({"qemu-system-x86_64", "-uuid", uuid, "-smp", vcpus, "-m", memory})});
  }

  Microjoules idle_before;
};

std::string documented() {
  std::ostringstream text;
  text << std::ifstream(KEPLERD_SOURCE_DIR "/docs/idle.md").rdbuf();
  return text.str();
}

struct Policy {
  const char* name;
  IdlePlacing placing;
};
constexpr Policy kPolicies[] = {{"separate", IdlePlacing::kSeparate},
                                {"equal", IdlePlacing::kEqual},
                                {"size", IdlePlacing::kSize},
                                {"usage", IdlePlacing::kUsage}};

class EachIdlePolicy : public IdlePolicies, public testing::WithParamInterface<Policy> {};

TEST_P(EachIdlePolicy, IsAsTheTableSays) {
  const std::string line = line_of(GetParam().name, GetParam().placing);
  EXPECT_NE(documented().find(line), std::string::npos) << line;
}

INSTANTIATE_TEST_SUITE_P(Table, EachIdlePolicy, testing::ValuesIn(kPolicies),
                         [](const auto& policy) { return std::string(policy.param.name); });

}  // namespace
}  // namespace keplerd
