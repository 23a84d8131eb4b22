// SPDX-License-Identifier: Apache-2.0
// An account belongs to the best evidence seen for its VM, even while that VM is stopped.
#include <gtest/gtest.h>

#include "daemon/identity_host.h"
#include "daemon/older_state.h"

namespace keplerd {
namespace {

constexpr char kService[] = "/system.slice/libvirtd.service";

class VmEvidenceTest : public Identity {
 protected:
  void SetUp() override {
    Identity::SetUp();
    host.begin();
  }
  // A root-owned program that claims the UUID, and draws 1 J.
  void run_by_hand(pid_t pid, const std::string& name = "by-hand") {
    add_qemu(pid, kCron, 0, kUuid, name);
    draw(pid, kCron);
  }
  // The process appears and draws 1 J.
  void draw(pid_t pid, const std::string& cgroup) {
    step(0);
    use_all(pid, cgroup, 10);
    step(2'000'000);
  }
  void run_in_scope(pid_t pid) {
    start_in_scope(pid, qemu("web", kUuid), static_cast<std::uint64_t>(pid));
    draw(pid, kScope);
  }
  void end_all(pid_t pid, const std::string& cgroup) {
    end(pid, cgroup);
    step(0);
  }
  void restart() {
    const auto state = parse_state(format_state(host.meter().state()));
    ASSERT_TRUE(state.ok()) << state.error().message;
    host.begin({}, Ledger(*state, "another"), state->readings);
  }
  void expect_untouched(pid_t claimant) {
    EXPECT_FALSE(vm(kUuid).running);
    EXPECT_EQ(vm(kUuid).info->name, "web");
    EXPECT_EQ(energy(kUuid), Microjoules{1'000'000});
    const std::string apart = std::to_string(claimant) + "." + std::to_string(claimant);
    EXPECT_EQ(vm(apart).info->name, "by-hand");
    EXPECT_EQ(energy(apart), Microjoules{1'000'000});
    EXPECT_TRUE(is_refused("vm", 0));
  }
};

TEST_F(VmEvidenceTest, ACommandLineOfRootsDoesNotGoOnWithAScopesVm) {
  run_in_scope(100);
  end_all(100, kScope);
  run_by_hand(200);
  expect_untouched(200);
  end_all(200, kCron);
  run_in_scope(300);
  EXPECT_EQ(vm(kUuid).info->pid, 300);
  EXPECT_EQ(energy(kUuid), Microjoules{2'000'000});
}

TEST_F(VmEvidenceTest, NorWithARecordedOnes) {
  write_status("web", kUuid, 100);
  add_qemu(100, kService, kLibvirt);
  draw(100, kService);
  host.files.remove("root/run/libvirt/qemu/web.xml");
  end_all(100, kService);
  run_by_hand(200);
  expect_untouched(200);
}

TEST_F(VmEvidenceTest, NorAfterARestartOfKeplerd) {
  run_in_scope(100);
  end_all(100, kScope);
  restart();
  run_by_hand(200);
  expect_untouched(200);
}

// Both are created by root, and a record disappears before its VM does.
TEST_F(VmEvidenceTest, AScopeGoesOnWithARecordedVm) {
  write_status("web", kUuid, 100);
  run_in_scope(100);
  host.files.remove("root/run/libvirt/qemu/web.xml");
  end_all(100, kScope);
  run_in_scope(200);
  EXPECT_EQ(vm(kUuid).info->pid, 200);
  EXPECT_EQ(energy(kUuid), Microjoules{2'000'000});
  EXPECT_FALSE(is_refused("vm", 0));
}

TEST_F(VmEvidenceTest, AVmThatRootStartsByHandGoesOnWithItsAccount) {
  run_by_hand(100);
  end_all(100, kCron);
  run_by_hand(200);
  EXPECT_EQ(energy(kUuid), Microjoules{2'000'000});
  end_all(200, kCron);
  restart();
  run_by_hand(300);
  EXPECT_EQ(energy(kUuid), Microjoules{3'000'000});
  EXPECT_EQ(vm(kUuid).info->pid, 300);
  EXPECT_FALSE(is_refused("vm", 0));
}

TEST_F(VmEvidenceTest, BetterEvidenceTakesTheAccountForGood) {
  run_by_hand(100, "web");
  write_status("web", kUuid, 100);
  step(0);
  step(0);
  EXPECT_EQ(vm(kUuid).info->pid, 100);
  host.files.remove("root/run/libvirt/qemu/web.xml");
  end_all(100, kCron);
  run_by_hand(200);
  expect_untouched(200);
}

TEST_F(VmEvidenceTest, ARecordThatComesLateTakesItBack) {
  write_status("web", kUuid, 100);
  add_qemu(100, kService, 0);
  draw(100, kService);
  end_all(100, kService);
  host.files.remove("root/run/libvirt/qemu/web.xml");
  add_qemu(200, kService, 0);
  draw(200, kService);
  EXPECT_FALSE(vm(kUuid).running);
  write_status("web", kUuid, 200);
  step(0);
  step(0);
  EXPECT_TRUE(vm(kUuid).running);
  EXPECT_EQ(vm(kUuid).info->pid, 200);
  EXPECT_EQ(energy(kUuid), Microjoules{1'000'000}) << "what was drawn before stays under the other id";
}

// A state of a version that did not save the evidence.
TEST_F(VmEvidenceTest, OfAnEarlierStateTheUnitSaysIt) {
  run_in_scope(100);
  add_qemu(101, kCron, 0, kOther, "by-hand");
  draw(101, kCron);
  end_all(100, kScope);
  end_all(101, kCron);
  const auto state = parse_state(without(format_state(host.meter().state()), R"("evidence")", ","));
  ASSERT_TRUE(state.ok()) << state.error().message;
  host.begin({}, Ledger(*state, "another"), state->readings);
  add_qemu(201, kCron, 0, kOther, "by-hand");
  run_by_hand(200);
  expect_untouched(200);
  EXPECT_EQ(vm(kOther).info->pid, 201);
}

// Two processes have the same id if one of them ran before the host was rebooted.
TEST_F(VmEvidenceTest, OfAProcessesIdItsOwnerIsTheFirst) {
  const auto without_uuid = [&](Uid user) {
    add(200, kCron, user, "qemu-system-x86", command({"qemu-system-x86_64", "-m", "64"}));
    draw(200, kCron);
  };
  without_uuid(33);
  end_all(200, kCron);
  restart();
  without_uuid(34);
  EXPECT_EQ(vm("200.200").owner, 33U);
  EXPECT_EQ(energy("200.200"), Microjoules{1'000'000});
  EXPECT_FALSE(vm("200.200").running);
  EXPECT_EQ(vm(of(34, "200.200")).owner, 34U);
  EXPECT_EQ(energy(of(34, "200.200")), Microjoules{1'000'000});
  end_all(200, kCron);
  restart();
  without_uuid(33);
  EXPECT_EQ(energy("200.200"), Microjoules{2'000'000}) << "its own goes on";
}

}  // namespace
}  // namespace keplerd
