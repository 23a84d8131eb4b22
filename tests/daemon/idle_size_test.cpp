// SPDX-License-Identifier: Apache-2.0
// Idle=size: idle energy goes to those who may use the host, and what is not sold remains the host's.
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "daemon/report_checks.h"
#include "daemon/vm_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr const char* kSoldService = "/system.slice/web.service";
constexpr std::int64_t kGiB = std::int64_t{1} << 30;

// Eight CPUs and 32 GiB.
class IdleSize : public VmTest {
 protected:
  IdleSize() {
    host.cpus.resize(8);
    host.files.write("proc/meminfo", "MemTotal: 33554432 kB\n");
  }
  void begin(IdlePlacing placing = IdlePlacing::kSize) {
    host.begin();
    host.meter().set_idle_placing(placing);
    step(2'000'000);  // VMs are as large as the window before says
  }
  std::string add_vm(pid_t pid, const std::string& uuid, const std::string& vcpus,
                     const std::string& memory) {
    const std::string scope = fmt::format("/machine.slice/machine-qemu\\x2d{}\\x2dvm{}.scope", pid, pid);
    host.files.add_cgroup(scope);
    host.files.add_process({.pid = pid,
                            .comm = "qemu-system-x86",
                            .cgroup = scope,
                            .cmdline = command({"qemu-system-x86_64", "-name", fmt::format("guest=vm{}", pid),
                                                "-uuid", uuid, "-smp", vcpus, "-m", memory})});
    return scope;
  }
  void limit(const std::string& group, const std::string& cpu, const std::string& memory) {
    host.files.write("cgroup" + group + "/cpu.max", cpu + "\n");
    host.files.write("cgroup" + group + "/memory.max", memory + "\n");
  }
  // What a step of 16 J, of which 8 are idle, places.
  Microjoules placed(const std::string& unit) {
    const Microjoules before = host.unit(unit).idle;
    step(16'000'000);
    return host.unit(unit).idle - before;
  }
};

TEST_F(IdleSize, UnsoldCapacityIsTheHosts) {
  const std::string one = add_vm(20, kUuid, "1", "4096"), two = add_vm(21, kOther, "2", "8192");
  begin();
  const AccountsReport before = host.meter().report()->accounts;
  const Microjoules of_one = host.unit(one).idle, of_two = host.unit(two).idle;
  step(16'000'000);
  EXPECT_EQ(host.meter().report()->accounts.idle - before.idle, Microjoules{5'000'000});
  EXPECT_EQ(host.unit(one).idle - of_one, Microjoules{1'000'000});
  EXPECT_EQ(host.unit(two).idle - of_two, Microjoules{2'000'000});
  EXPECT_EQ(host.vm(kUuid)->idle_power, Microwatts{1'000'000});
}

TEST_F(IdleSize, OfAVmIsWhatLibvirtSays) {
  const std::string scope = add_vm(20, kUuid, "8", "32768");
  write_status("vm20", kUuid, 20, "", "<memory unit='KiB'>8388608</memory><vcpu>2</vcpu>");
  begin();
  EXPECT_EQ(placed(scope), Microjoules{2'000'000});
}

TEST_F(IdleSize, OfAUnitIsItsQuotaAndItsMemory) {
  host.files.add_cgroup(kSoldService);
  host.files.add_cgroup("/system.slice/cron.service");
  limit(kSoldService, "200000 100000", std::to_string(4 * kGiB));
  begin();
  EXPECT_EQ(placed(kSoldService), Microjoules{1'500'000});
  EXPECT_EQ(placed("/system.slice/cron.service"), Microjoules{}) << "without limits";
}

TEST_F(IdleSize, OfAContainerIsThatOfItsPodIfItHasNone) {
  const std::string id(64, 'a');
  const std::string pod = "/kubepods.slice/kubepods-pod0d3c5a3a_1b2c_4d5e_8f90_a1b2c3d4e5f6.slice";
  const std::string container = pod + "/cri-containerd-" + id + ".scope";
  host.files.add_cgroup(container);
  limit(pod, "100000 100000", "max");
  begin();
  EXPECT_EQ(placed(container), Microjoules{1'000'000});
  ASSERT_NE(host.container(id), nullptr);
  EXPECT_EQ(host.container(id)->idle, host.unit(container).idle);
}

TEST_F(IdleSize, OfAVmWithoutACgroupIsOnItsProcess) {
  host.files.add_process(
      {.pid = 20,
       .comm = "qemu-system-x86",
       .cmdline = command({"qemu-system-x86_64", "-uuid", kUuid, "-smp", "4", "-m", "16G"})});
  begin();
  const Microjoules before = host.vm(kUuid)->idle;
  step(16'000'000);
  EXPECT_EQ(host.vm(kUuid)->idle - before, Microjoules{4'000'000});
}

TEST_F(IdleSize, AllIsTheHostsIfNothingIsLimited) {
  host.files.add_cgroup(kSoldService);
  begin();
  EXPECT_EQ(placed(kSoldService), Microjoules{});
  const Report& report = *host.meter().report();
  EXPECT_EQ(report.accounts.idle, report.host.idle);
}

TEST_F(IdleSize, NothingIsReadUnderOtherPolicies) {
  host.files.add_cgroup(kSoldService);
  begin(IdlePlacing::kEqual);
  EXPECT_TRUE(host.meter().last_sample().usage.limits.empty());
  host.meter().set_idle_placing(IdlePlacing::kSize);
  step(1'000'000);
  EXPECT_FALSE(host.meter().last_sample().usage.limits.empty());
  host.meter().set_idle_placing(IdlePlacing::kSeparate);
  step(1'000'000);
  EXPECT_TRUE(host.meter().last_sample().usage.limits.empty());
}

// Limits and policies change at random: every report adds up (MeterHost checks it), and active energy is what
// it is if nothing is placed.
class RandomPolicies : public testing::TestWithParam<unsigned> {};

std::vector<Microjoules> active_energies(unsigned seed, bool places) {
  std::mt19937 random(seed);
  const auto below = [&](int most) { return std::uniform_int_distribution<int>(0, most - 1)(random); };
  constexpr IdlePlacing kPlacings[] = {IdlePlacing::kSeparate, IdlePlacing::kEqual, IdlePlacing::kSize,
                                       IdlePlacing::kUsage};
  MeterHost host;
  host.cpus.resize(4);
  host.files.write("proc/meminfo", "MemTotal: 16777216 kB\n");
  const std::vector<std::string> units = {"/a.slice", "/a.slice/a.service", "/a.slice/b.service", kScope,
                                          "/system.slice/docker-" + std::string(64, 'b') + ".scope"};
  std::vector<std::int64_t> usage(units.size());
  for (const std::string& unit : units) host.files.add_cgroup(unit);
  host.files.add_process(
      {.pid = 20,
       .comm = "qemu-system-x86",
       .cgroup = kScope,
       .cmdline = command({"qemu-system-x86_64", "-uuid", kUuid, "-smp", "3", "-m", "4G"})});
  host.files.add_process({.pid = 21,
                          .comm = "qemu-system-x86",
                          .cgroup = "/a.slice/a.service",
                          .cmdline = command({"qemu-system-x86_64", "-uuid", kOther, "-smp", "2"})});
  host.begin();
  std::vector<Microjoules> energies;
  for (int i = 0; i < 150; ++i) {
    const auto placing = kPlacings[below(4)];
    if (places && i % 3 == 0) host.meter().set_idle_placing(placing);
    for (std::size_t u = 1; u < units.size(); ++u) usage[u] += below(200'000);
    usage[0] = usage[1] + usage[2];
    for (std::size_t u = 0; u < units.size(); ++u) {
      host.files.set_cgroup_usage(units[u], usage[u]);
      if (below(4) == 0)
        host.files.write("cgroup" + units[u] + "/cpu.max", fmt::format("{} 100000", below(500'000)));
      if (below(4) == 0)
        host.files.write("cgroup" + units[u] + "/memory.max", std::to_string(below(20) * kGiB));
    }
    host.draw(1'000'000 + below(30'000'000), below(3'000'000));
    host.step(std::chrono::milliseconds(900 + below(20'000)));
    for (const std::string& unit : units) energies.push_back(host.unit(unit).active);
    for (const char* const vm : {kUuid, kOther})
      if (host.vm(vm) != nullptr) energies.push_back(host.vm(vm)->active);
  }
  return energies;
}

TEST_P(RandomPolicies, AddUpAndDoNotChangeActiveEnergy) {
  EXPECT_EQ(active_energies(GetParam(), true), active_energies(GetParam(), false));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPolicies, testing::Range(1U, 6U));

}  // namespace
}  // namespace keplerd
