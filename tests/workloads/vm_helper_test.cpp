// SPDX-License-Identifier: Apache-2.0
// Processes that help to run a VM, recognised by their command lines.
#include "workloads/vm_helper.h"

#include <initializer_list>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

constexpr char kUuid[] = "2b9a43a1-5a5f-4cf0-9d3a-6a6f3a1d2c01";

std::optional<HelperCommand> recognise(std::initializer_list<std::string_view> list) {
  const std::vector<std::string_view> words(list);
  return recognise_helper({words, "", {}});
}

using Paths = std::vector<std::string>;

TEST(VmHelper, SwtpmIsIdentifiedByItsSocketAndLibvirtsByItsUuid) {
  const auto helper =
      recognise({"/usr/bin/swtpm", "socket", "--ctrl",
                 "type=unixio,path=/run/libvirt/qemu/swtpm/1-web-swtpm.sock,mode=0600", "--tpmstate",
                 "dir=/var/lib/libvirt/swtpm/2B9A43A1-5a5f-4cf0-9d3a-6a6f3a1d2c01/tpm2,mode=0600", "--tpm2"});
  ASSERT_TRUE(helper);
  EXPECT_EQ(helper->program, "swtpm");
  EXPECT_EQ(helper->uuid, kUuid);
  EXPECT_EQ(helper->paths, (Paths{"/run/libvirt/qemu/swtpm/1-web-swtpm.sock",
                                  "/var/lib/libvirt/swtpm/2B9A43A1-5a5f-4cf0-9d3a-6a6f3a1d2c01/tpm2"}));
}

TEST(VmHelper, VirtiofsdPasstAndVhostUserDevicesAreIdentifiedByTheirSockets) {
  EXPECT_EQ(
      recognise({"/usr/libexec/virtiofsd", "--socket-path=/run/fs.sock", "--shared-dir", "/srv"})->paths,
      (Paths{"/run/fs.sock", "/srv"}));
  const auto passt = recognise({"/usr/bin/passt.avx2", "--socket", "/tmp/passt_1.socket"});
  EXPECT_EQ(passt->program, "passt");
  EXPECT_EQ(passt->paths, (Paths{"/tmp/passt_1.socket"}));
  EXPECT_EQ(recognise({"vhost-device-vsock", "--vm", "guest-cid=4,socket=/run/v4.sock"})->paths,
            (Paths{"/run/v4.sock"}));
}

TEST(VmHelper, OthersAreNone) {
  EXPECT_FALSE(recognise({}));
  EXPECT_FALSE(recognise({"/bin/sh", "swtpm"}));
  EXPECT_FALSE(recognise({"/usr/bin/swtpm_setup", "--tpm2"}));
}

TEST(VmHelper, OfEndlessArgumentsOnlyTheFirstPathsCount) {
  std::string many = "/a";
  for (int i = 0; i < 10'000; ++i) many += ",/a";
  EXPECT_EQ(recognise({"swtpm", many})->paths.size(), 64u);
}

}  // namespace
}  // namespace keplerd
