// SPDX-License-Identifier: Apache-2.0
// Which VMs get which meter, when, and in which layout.
#include "daemon/publish/guest_trees.h"

#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "daemon/guest_trees_host.h"
#include "daemon/meter_host.h"

namespace keplerd {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SocketShare, SumsExactlyAndNeverGoesBack) {
  for (int sockets = 1; sockets <= 64; ++sockets) {
    std::vector<std::int64_t> before(64);
    for (std::int64_t joules = 0; joules < 300; ++joules) {
      std::int64_t sum = 0;
      for (int socket = 0; socket < sockets; ++socket) {
        const auto share = socket_share(joules, socket, sockets);
        EXPECT_GE(share, before[static_cast<std::size_t>(socket)]);
        before[static_cast<std::size_t>(socket)] = share;
        sum += share;
      }
      ASSERT_EQ(sum, joules) << sockets;
    }
  }
  EXPECT_EQ(socket_share(7, 0, 3), 3);
  EXPECT_EQ(socket_share(7, 1, 3), 2);
  EXPECT_EQ(socket_share(7, 2, 3), 2);
}

TEST_F(GuestTreesTest, HaveTheFormOfPowercapInWholeJoules) {
  publish();
  EXPECT_EQ(names(tree()), (std::set<std::string>{"intel-rapl:0", "intel-rapl:0:0", "quality"}));
  EXPECT_EQ(read("intel-rapl:0/name"), "package-0\n");
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "7000000\n");
  EXPECT_EQ(read("intel-rapl:0/max_energy_range_uj"), "9223372036854775807\n");
  EXPECT_EQ(read("intel-rapl:0:0/name"), "dram\n");
  EXPECT_EQ(read("intel-rapl:0:0/energy_uj"), "2000000\n");
  EXPECT_EQ(read("intel-rapl:0/intel-rapl:0:0/energy_uj"), "2000000\n") << "where the kernel has it too";
  EXPECT_EQ(read("quality"), "attributed\n");
  EXPECT_THAT(complaints, IsEmpty());
}

TEST_F(GuestTreesTest, AreReadableForAllWhateverTheUmask) {
  const mode_t before = ::umask(0077);
  publish();
  ::umask(before);
  EXPECT_EQ(fs::status(tree()).permissions(), fs::perms(0755));
  EXPECT_EQ(fs::status(tree() / "intel-rapl:0").permissions(), fs::perms(0755));
  EXPECT_EQ(fs::status(tree() / "intel-rapl:0/energy_uj").permissions(), fs::perms(0444));
  EXPECT_EQ(fs::status(base / "guests").permissions() & fs::perms(0007), fs::perms(0));
}

TEST_F(GuestTreesTest, DivideAmongTheVirtualSockets) {
  vms[0].sockets = 2;
  publish();
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "4000000\n");
  EXPECT_EQ(read("intel-rapl:1/energy_uj"), "3000000\n");
  EXPECT_EQ(read("intel-rapl:1/name"), "package-1\n");
  EXPECT_EQ(read("intel-rapl:0:0/energy_uj"), "1000000\n");
  EXPECT_EQ(read("intel-rapl:1:0/energy_uj"), "1000000\n");
  vms[0].package = 8'000'000;
  publish();
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "4000000\n");
  EXPECT_EQ(read("intel-rapl:1/energy_uj"), "4000000\n");
}

TEST_F(GuestTreesTest, HaveNoMemoryIfTheHostMeasuresNone) {
  has_dram = false;
  publish();
  EXPECT_EQ(names(tree()), (std::set<std::string>{"intel-rapl:0", "quality"}));
  EXPECT_EQ(names(tree() / "intel-rapl:0"),
            (std::set<std::string>{"name", "energy_uj", "max_energy_range_uj"}));
}

TEST_F(GuestTreesTest, AreWrittenEveryTenSecondsWhateverTheTicks) {
  publish(0s);
  const Nanoseconds begin = now;
  std::vector<Nanoseconds> writes;
  std::string reported = read("intel-rapl:0/energy_uj");
  for (int tick = 0; tick < 400; ++tick) {
    vms[0].package += 5'000'000;
    publish(tick % 7 == 0 ? 130ms : 97ms);
    const auto text = read("intel-rapl:0/energy_uj");
    if (text != reported) writes.push_back(now - begin);
    reported = text;
  }
  ASSERT_EQ(writes.size(), 4U);
  for (std::size_t i = 1; i < writes.size(); ++i) EXPECT_GE(writes[i] - writes[i - 1], 9900ms);
}

TEST_F(GuestTreesTest, AreWrittenAtTheSameInstants) {
  publish();
  publish(3s);
  vms.push_back({.id = kDb, .name = "db", .package = 5'000'000});
  publish(3s);
  EXPECT_FALSE(fs::exists(tree(kDb)));
  publish(4s);
  EXPECT_EQ(read("intel-rapl:0/energy_uj", kDb), "5000000\n");
}

TEST_F(GuestTreesTest, AreOfThoseThatAreChosen) {
  vms.push_back({.id = kDb, .name = "db"});
  vms.push_back({.id = "4711.99", .name = "qemu"});
  start({"DB"});
  publish();
  EXPECT_THAT(names(base / "guests"), IsEmpty());
  start({"db"});
  publish();
  EXPECT_THAT(names(base / "guests"), ElementsAre(kDb));
  start({"2B9A43A1-5A5F-4CF0-9D3A-6A6F3A1D2C01", "4711.99"});
  publish();
  EXPECT_EQ(names(base / "guests"), (std::set<std::string>{kDb, kWeb, "4711.99"}));
  publish();
  publish();
  EXPECT_EQ(names(base / "guests"), (std::set<std::string>{kWeb, "4711.99"})) << "of the choice before";
}

TEST(GuestSettings, SelectMachinesByTheirMetadataIfEnabled) {
  VmInfo info;
  info.id = kWeb;
  EXPECT_FALSE(is_chosen(info, {.by_metadata = true}));
  info.metadata["keplerd.meter"] = "no";
  EXPECT_FALSE(is_chosen(info, {.by_metadata = true}));
  info.metadata["keplerd.meter"] = "yes";
  EXPECT_TRUE(is_chosen(info, {.by_metadata = true}));
  EXPECT_FALSE(is_chosen(info, {.by_metadata = false}));
}

TEST_F(GuestTreesTest, OfNoneAreMadeByDefault) {
  start({});
  publish();
  EXPECT_FALSE(fs::exists(base / "guests"));
  fs::create_directories(tree() / "intel-rapl:0");
  publish();
  publish();
  publish();
  EXPECT_THAT(names(base / "guests"), IsEmpty()) << "left by a run that had other settings";
}

TEST_F(GuestTreesTest, HaveTheQualityOfTheirSource) {
  quality = Quality::kSimulated;
  publish();
  EXPECT_EQ(read("quality"), "simulated\n");
  quality = Quality::kEstimated;
  publish();
  EXPECT_EQ(read("quality"), "estimated\n");
}

TEST_F(GuestTreesTest, WhatTheGuestCountsIsWhatTheHostHasGivenIt) {
  const std::string line = std::string("/usr/bin/qemu-system-x86_64") + '\0' + "-uuid" + '\0' + kWeb + '\0' +
                           "-smp" + '\0' + "4,sockets=2,cores=2,threads=1" + '\0';
  MeterHost host, guest;
  host.files.add_process({.pid = 100, .comm = "qemu-system-x86", .cmdline = line});
  host.files.add_process({.pid = 101, .comm = "other"});
  host.begin();
  guest.files.add_cgroup("/a.service");
  guest.files.add_cgroup("/b.service");
  trees->update(*host.meter().report());
  EXPECT_EQ(read("intel-rapl:1/energy_uj"), "0\n") << "two sockets";
  guest.files.remove("root/run/keplerd-meter");
  guest.files.link("root/run/keplerd-meter", tree());
  guest.begin({.source = "guest"});

  for (std::int64_t second = 1; second <= 65; ++second) {
    host.draw(8'123'457, 1'234'567);
    host.files.set_process_time(100, second * 30);
    host.files.set_process_time(101, second * 10);
    guest.files.set_cgroup_usage("/a.service", second * 200'000);
    guest.files.set_cgroup_usage("/b.service", second * 100'000);
    trees->update(host.step());
    guest.step();
  }
  const VmRow& row = *host.vm(kWeb);
  // 60 s of half of what both meters draw, three quarters of it. (Memory is rounded down separately.)
  const std::int64_t packages = 8'123'457 * 60 / 2 * 3 / 4 / 1'000'000,
                     dram = 1'234'567 * 60 / 2 * 3 / 4 / 1'000'000;
  const Report& report = *guest.meter().report();
  EXPECT_EQ(report.host.energy.value, (packages + dram) * 1'000'000);
  EXPECT_LT((row.active + row.idle).value - report.host.energy.value, 5 * 8'000'000 + 2'000'000);
  EXPECT_EQ(report.source.quality, Quality::kAttributed);
  EXPECT_EQ(report.zones.size(), 4U);
  // Divided again: half was idle, and a had twice b's time.
  EXPECT_NEAR(static_cast<double>(guest.unit("/a.service").active.value),
              2.0 * static_cast<double>(guest.unit("/b.service").active.value), 60);
  EXPECT_EQ(report.accounts.workloads.value + report.accounts.idle.value, report.host.energy.value);
}

}  // namespace
}  // namespace keplerd
