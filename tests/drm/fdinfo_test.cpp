// SPDX-License-Identifier: Apache-2.0
// The texts are those of the kernel's documentation, and of the drivers' code.
#include "meters/drm/fdinfo.h"

#include <gtest/gtest.h>

namespace keplerd::drm {
namespace {

TEST(Fdinfo, AmdgpuReportsNanoseconds) {
  const auto client = parse_fdinfo(
      "pos:\t0\nflags:\t02100002\nmnt_id:\t26\nino:\t400\n"
      "drm-driver:\tamdgpu\ndrm-client-id:\t18\ndrm-pdev:\t0000:03:00.0\npasid:\t32770\n"
      "drm-total-vram:\t7168 KiB\ndrm-memory-vram:\t7168 KiB\n"
      "drm-engine-gfx:\t44123456 ns\ndrm-engine-enc_1:\t12 ns\ndrm-engine-capacity-enc_1:\t2\n");
  ASSERT_TRUE(client);
  EXPECT_EQ(client->driver, "amdgpu");
  EXPECT_EQ(client->device, "0000:03:00.0");
  EXPECT_EQ(client->id, 18U);
  ASSERT_EQ(client->engines.size(), 2U);
  EXPECT_EQ(client->engines.at("gfx").nanoseconds, 44'123'456U);
  EXPECT_EQ(client->engines.at("enc_1").nanoseconds, 12U);
}

TEST(Fdinfo, XeReportsCycles) {
  const auto client = parse_fdinfo(
      "drm-driver:\txe\ndrm-client-id:\t7\ndrm-pdev:\t0000:00:02.0\n"
      "drm-cycles-rcs:\t28257900\ndrm-total-cycles-rcs:\t7655183225\ndrm-cycles-vcs:\t5\n");
  ASSERT_TRUE(client);
  EXPECT_EQ(client->engines.at("rcs").cycles, 28'257'900U);
  EXPECT_EQ(client->engines.at("rcs").all_cycles, 7'655'183'225U);
  EXPECT_TRUE(client->engines.at("rcs").is_known());
  EXPECT_FALSE(client->engines.at("vcs").is_known()) << "of how many is not known";
}

TEST(Fdinfo, WhatIsNoClientOfAPciDeviceIsNothing) {
  EXPECT_FALSE(parse_fdinfo(""));
  EXPECT_FALSE(parse_fdinfo("pos:\t0\nflags:\t02\nmnt_id:\t26\nino:\t400\n"));
  EXPECT_FALSE(parse_fdinfo("drm-driver:\tv3d\ndrm-client-id:\t1\ndrm-engine-bin:\t5 ns\n"));
  EXPECT_FALSE(parse_fdinfo("drm-driver:\tamdgpu\ndrm-pdev:\t../../etc\ndrm-client-id:\t1\n"));
  EXPECT_FALSE(parse_fdinfo("drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t-1\n"));
  EXPECT_FALSE(parse_fdinfo("drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\n"));
}

// io_uring writes the names of registered files, and dma-buf that of the buffer: users choose them.
TEST(Fdinfo, LinesThatAUserHasChosenAreNotBelieved) {
  const std::string chosen = "drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t1\n";
  EXPECT_FALSE(parse_fdinfo("pos:\t0\nino:\t400\nSqMask:\t0x7\n    0: a\n" + chosen));
  EXPECT_FALSE(parse_fdinfo("pos:\t0\nsize:\t4096\nname:\t\n" + chosen));
  EXPECT_TRUE(parse_fdinfo("pos:\t0\nino:\t400\nlock:\t1: FLOCK\npasid:\t32770\n" + chosen));
  EXPECT_FALSE(parse_vfio_fdinfo("SqMask:\t0x7\n    0: a\nvfio-device-syspath: /sys/0000:03:00.0\n"));
}

TEST(Fdinfo, VfioNamesTheDevice) {
  EXPECT_EQ(parse_vfio_fdinfo("pos:\t0\nflags:\t02000002\nmnt_id:\t17\nino:\t5122\n"
                              "vfio-device-syspath: /sys/devices/pci0000:e0/0000:e0:01.1/0000:e8:00.0\n"),
            "0000:e8:00.0");
  EXPECT_FALSE(parse_vfio_fdinfo("pos:\t0\nvfio-device-syspath: /sys/devices/platform/x\n"));
}

TEST(Fdinfo, EnginesAreBounded) {
  std::string text = "drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t1\n";
  for (int i = 0; i < 100; ++i) text += "drm-engine-e" + std::to_string(i) + ":\t5 ns\n";
  EXPECT_EQ(parse_fdinfo(text)->engines.size(), kMostEngines);
}

}  // namespace
}  // namespace keplerd::drm
