// SPDX-License-Identifier: Apache-2.0
#include "trace/name_scrambler.h"

#include <numeric>

#include <gtest/gtest.h>

#include "workloads/cgroup_workload.h"
#include "workloads/unit_name.h"

namespace keplerd {
namespace {

constexpr HashKey kKey{0x0706050403020100, 0x0f0e0d0c0b0a0908};

TEST(KeyedHash, IsSipHash24) {  // vectors of its authors: the text is 00 01 02 ...
  std::string text(15, '\0');
  std::iota(text.begin(), text.end(), '\0');
  EXPECT_EQ(keyed_hash(kKey, ""), 0x726fdb47dd0e0e31U);
  EXPECT_EQ(keyed_hash(kKey, text.substr(0, 8)), 0x93f5f5799a932462U);
  EXPECT_EQ(keyed_hash(kKey, text), 0xa129ca6149be45e5U);
}

constexpr auto kId = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

TEST(NameScrambler, KeepsTheKindOfAWorkload) {
  const NameScrambler scrambler(kKey);
  const std::string id = kId;
  for (const std::string& path : std::vector<std::string>{
           "/system.slice/web.service",
           "/system.slice/docker.service",
           "/system.slice/docker-" + id + ".scope",
           "/docker/" + id,
           "/machine.slice/libpod-" + id + ".scope",
           "/machine.slice/libpod-conmon-" + id + ".scope",
           "/machine.slice/machine-qemu\\x2d6\\x2dcirros.scope",
           "/machine.slice/machine-qemu\\x2d6\\x2dcirros.scope/libvirt/emulator",
           "/machine.slice/machine-lxc\\x2d6\\x2dbox.scope",
           "/machine.slice/machine-mail.scope",
           "/machine.slice/systemd-nspawn@mail.service",
           "/qemu.slice/100.scope",
           "/machine/qemu-1-mail.libvirt-qemu",
           "/lxc/mail",
           "/lxc.payload.mail",
           "/kubepods/burstable/pod01234567-89ab-cdef-0123-456789abcdef/" + id,
           "/kubepods.slice/kubepods-besteffort.slice/"
           "kubepods-besteffort-pod01234567_89ab_cdef_0123_456789abcdef.slice/cri-containerd-" +
               id + ".scope",
           "/system.slice/kubepods-pod01234567_89ab_cdef_0123_456789abcdef.slice:cri-containerd:" + id,
           "/user.slice/user-1000.slice/user@1000.service/app.slice/app-firefox.scope",
           "/user.slice/user-1000.slice/session-4.scope",
           "/mine/group"}) {
    const std::string scrambled = scrambler.path(path);
    const CgroupWorkload before = recognise_cgroup(path), after = recognise_cgroup(scrambled);
    EXPECT_EQ(after.kind, before.kind) << path << " -> " << scrambled;
    EXPECT_EQ(after.runtime, before.runtime) << path << " -> " << scrambled;
    EXPECT_EQ(after.hypervisor, before.hypervisor) << path << " -> " << scrambled;
    EXPECT_EQ(after.monitor, before.monitor) << path << " -> " << scrambled;
    EXPECT_EQ(after.pod.empty(), before.pod.empty()) << path << " -> " << scrambled;
    EXPECT_EQ(after.group.is_unit, before.group.is_unit) << path << " -> " << scrambled;
    EXPECT_EQ(slice_user(scrambled).has_value(), slice_user(path).has_value()) << path << " -> " << scrambled;
    EXPECT_EQ(enclosing_workloads(scrambled).size(), enclosing_workloads(path).size()) << path;
  }
}

TEST(NameScrambler, LeavesNothingOfTheName) {
  const NameScrambler scrambler(kKey);
  const std::string scrambled = scrambler.path(
      "/user.slice/user-1000.slice/user@1000.service/app.slice/app-firefox@4711.service/"
      "machine-qemu\\x2d6\\x2dcirros.scope/docker.service/0123456789abcdef.scope");
  for (const char* name : {"1000", "firefox", "4711", "cirros", "docker", "0123456789abcdef"})
    EXPECT_EQ(scrambled.find(name), scrambled.npos) << name << " in " << scrambled;
}

TEST(NameScrambler, TheSameNameHasTheSameReplacementUnderTheSameKeyOnly) {
  const NameScrambler scrambler(kKey), same(kKey), other({1, 2});
  EXPECT_EQ(scrambler.path("/a.service"), same.path("/a.service"));
  EXPECT_NE(scrambler.path("/a.service"), other.path("/a.service"));
  EXPECT_NE(scrambler.path("/a.service"), scrambler.path("/b.service"));
  EXPECT_EQ(slice_user(scrambler.path("/user.slice/user-1000.slice")),
            slice_user(scrambler.path("/user.slice/user-1000.slice/session-1.scope")));
  EXPECT_EQ(slice_user(scrambler.path("/user.slice/user-0.slice")), 0U) << "root's is no secret";
}

TEST(NameScrambler, AUuidStaysOne) {
  const NameScrambler scrambler(kKey);
  const std::string uuid = "6e8f5d5e-3b0a-4a47-9f0c-0123456789ab", scrambled = scrambler.id(uuid);
  ASSERT_EQ(scrambled.size(), uuid.size());
  EXPECT_NE(scrambled, uuid);
  for (const std::size_t dash : {8U, 13U, 18U, 23U}) EXPECT_EQ(scrambled[dash], '-');
}

}  // namespace
}  // namespace keplerd
