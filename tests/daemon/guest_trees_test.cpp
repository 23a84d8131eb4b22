// SPDX-License-Identifier: Apache-2.0
// Which VMs get which meter, when, and in which layout.
#include "daemon/publish/guest_trees.h"

#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "daemon/meter_host.h"

namespace keplerd {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kWeb[] = "2b9a43a1-5a5f-4cf0-9d3a-6a6f3a1d2c01";
constexpr char kDb[] = "7f1c8b1e-0000-4000-8000-00000000000a";

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

class GuestTreesTest : public testing::Test {
 protected:
  struct Machine {
    std::string id, name;
    std::int64_t package = 0, dram = 0;  // microjoules
    int sockets = 1;
    bool running = true;
  };

  GuestTreesTest() {
    std::string name = fs::temp_directory_path() / "keplerd-guests-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    base = name;
    start({"all"});
  }
  ~GuestTreesTest() override {
    trees.reset();
    fs::remove_all(base);
  }

  void start(std::vector<std::string> chosen) {
    trees =
        std::make_unique<GuestTrees>(GuestSettings{.vms = std::move(chosen), .directory = base / "guests"},
                                     [this](const std::string& line) { complaints.push_back(line); });
  }

  // A report this much later than the previous one.
  void publish(Nanoseconds later = 10s) {
    now += later;
    Report report;
    report.monotonic = now;
    report.workload_quality = quality;
    report.zones = {{.zone = {.id = "p", .name = "package", .in_total = true}},
                    {.zone = {.id = "c", .name = "core"}}};
    if (has_dram) report.zones.push_back({.zone = {.id = "d", .name = "dram", .in_total = true}});
    report.shares.reserve(vms.size() * 3);
    for (const Machine& vm : vms) {
      VmRow& row = report.vms.emplace_back();
      auto info = std::make_shared<VmInfo>();
      info->id = vm.id;
      info->name = vm.name;
      info->cpu_sockets = vm.sockets;
      row.info = std::move(info);
      row.running = vm.running;
      const std::size_t first = report.shares.size();
      report.shares.push_back({.energy = {vm.package}});
      report.shares.push_back({.energy = {999'000'000}});
      if (has_dram) report.shares.push_back({.energy = {vm.dram}});
      row.zones = std::span(report.shares).subspan(first);
    }
    trees->update(report);
  }

  fs::path tree(const std::string& id = kWeb) const { return base / "guests" / id; }
  std::string read(const std::string& path, const std::string& id = kWeb) const {
    std::ifstream file(tree(id) / path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::set<std::string> names(const fs::path& directory) {
    std::set<std::string> found;
    if (!fs::exists(directory)) return found;
    for (const auto& entry : fs::directory_iterator(directory)) found.insert(entry.path().filename());
    return found;
  }

  fs::path base;
  std::unique_ptr<GuestTrees> trees;
  std::vector<std::string> complaints;
  std::vector<Machine> vms = {{.id = kWeb, .name = "web", .package = 7'999'999, .dram = 2'000'000}};
  Quality quality = Quality::kAttributed;
  bool has_dram = true;
  Nanoseconds now = 1h;
};

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

TEST_F(GuestTreesTest, KeepTheirDirectoryAcrossARestartOfKeplerd) {
  publish();
  struct stat before {
  }, after{};
  ASSERT_EQ(::stat(tree().c_str(), &before), 0);
  start({"all"});
  vms.clear();  // not found by the first sample
  publish();
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "7000000\n");
  vms = {{.id = kWeb, .name = "web", .package = 9'000'000}};
  publish();
  ASSERT_EQ(::stat(tree().c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "9000000\n");
}

TEST_F(GuestTreesTest, DoNotGoBackWhereTotalsWereNotSaved) {
  vms[0].package = 500'000'000;
  vms[0].sockets = 2;
  publish();
  start({"all"});
  vms[0].package = 480'500'000;
  publish();
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "250000000\n");
  EXPECT_EQ(read("intel-rapl:1/energy_uj"), "250000000\n");
  vms[0].package = 501'000'000;
  publish();
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "251000000\n");
}

TEST_F(GuestTreesTest, BeginAnewWhereTotalsDo) {
  vms[0].package = 90'000'000'000;
  publish();
  start({"all"});
  vms[0].package = 1'000'000;
  publish();
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "1000000\n");
}

TEST_F(GuestTreesTest, HaveTheZonesThatTheMachineHasNow) {
  vms[0].sockets = 2;
  publish();
  vms[0].sockets = 1;
  has_dram = false;
  publish();
  EXPECT_EQ(names(tree()), (std::set<std::string>{"intel-rapl:0", "quality"}));
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "7000000\n");
  start({"all"});
  vms[0].sockets = 3;
  publish();
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "3000000\n");
  EXPECT_EQ(read("intel-rapl:2/energy_uj"), "2000000\n");
}

TEST_F(GuestTreesTest, GoWithTheirMachine) {
  publish();
  vms[0].running = false;
  publish();
  EXPECT_THAT(names(tree()), IsEmpty());
  EXPECT_TRUE(fs::exists(tree())) << "for one that is started again at once";
  publish();
  EXPECT_FALSE(fs::exists(tree()));
  EXPECT_THAT(complaints, IsEmpty());
}

TEST_F(GuestTreesTest, AreTheSameDirectoryForAMachineThatComesBackAtOnce) {
  publish();
  struct stat before {
  }, after{};
  ASSERT_EQ(::stat(tree().c_str(), &before), 0);
  vms[0].running = false;
  publish();
  vms[0].running = true;
  for (int i = 0; i < 3; ++i) publish();
  ASSERT_EQ(::stat(tree().c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "7000000\n");
}

TEST_F(GuestTreesTest, AreThereBeforeTheMachineWhereItsUuidIsListed) {
  start({kWeb});
  vms.clear();
  publish();
  EXPECT_TRUE(fs::exists(tree()));
  vms = {{.id = kWeb, .name = "web"}};
  publish();
  vms[0].running = false;
  for (int i = 0; i < 4; ++i) publish();
  EXPECT_TRUE(fs::exists(tree()));
  EXPECT_THAT(names(tree()), IsEmpty());
}

TEST_F(GuestTreesTest, OthersThingsInTheirDirectoryStay) {
  fs::create_directories(tree(kDb));               // created for a VM that is yet to start
  fs::create_directories(base / "guests/mine/x");  // not ours
  for (int i = 0; i < 4; ++i) publish();
  EXPECT_EQ(names(base / "guests"), (std::set<std::string>{kWeb, kDb, "mine"}));
  EXPECT_TRUE(fs::exists(base / "guests/mine/x"));
}

TEST_F(GuestTreesTest, OfAnEarlierRunAreRemovedWithTheirContents) {
  fs::create_directories(tree(kDb) / "intel-rapl:0");
  for (int i = 0; i < 3; ++i) publish();
  EXPECT_THAT(names(base / "guests"), ElementsAre(kWeb));
}

// --- what a guest may have done to its directory, if it is writable for it

TEST_F(GuestTreesTest, LinksOfAGuestLeadNowhere) {
  fs::create_directories(base / "host");
  std::ofstream(base / "host/energy_uj") << "precious";
  publish();
  fs::remove_all(tree() / "intel-rapl:0");
  fs::create_directory_symlink(base / "host", tree() / "intel-rapl:0");
  for (int i = 0; i < 3; ++i) {
    vms[0].package += 5'000'000;
    publish();
  }
  std::ifstream file(base / "host/energy_uj");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "precious");
  EXPECT_EQ(names(base / "host"), (std::set<std::string>{"energy_uj"}));
  // A file that is a link is replaced, and its target is not written to.
  fs::remove(tree() / "intel-rapl:0:0/energy_uj");
  fs::create_symlink(base / "host/energy_uj", tree() / "intel-rapl:0:0/energy_uj");
  fs::create_symlink(base / "host/energy_uj", tree() / "intel-rapl:0:0/.new");
  vms[0].dram += 5'000'000;
  publish();
  std::ifstream again(base / "host/energy_uj");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(again), {}), "precious");
}

TEST_F(GuestTreesTest, AGuestThatSpoilsItsDirectoryCostsTheOthersNothing) {
  vms.push_back({.id = kDb, .name = "db", .package = 1'000'000});
  publish();
  fs::remove(tree() / "quality");
  fs::create_directories(tree() / "quality/x");
  fs::remove_all(tree() / "intel-rapl:0");
  std::ofstream(tree() / "intel-rapl:0") << "no directory";
  for (int i = 0; i < 6; ++i) {
    vms[0].package += 5'000'000;
    vms[1].package += 5'000'000;
    publish();
    EXPECT_EQ(read("intel-rapl:0/energy_uj", kDb), std::to_string(vms[1].package) + "\n");
  }
  EXPECT_LE(complaints.size(), 2U) << "no more than a line a minute";
}

TEST_F(GuestTreesTest, APersistentProblemIsLoggedOnceAMinute) {
  vms.push_back({.id = kDb, .name = "db", .package = 1'000'000});
  fs::create_directories(base / "guests");
  std::ofstream(base / "guests" / kWeb) << "no directory";
  for (int i = 0; i < 12; ++i) publish();
  EXPECT_THAT(complaints, ElementsAre(HasSubstr(kWeb), HasSubstr("Not a directory")));
  EXPECT_EQ(read("intel-rapl:0/energy_uj", kDb), "1000000\n");
}

TEST_F(GuestTreesTest, ADirectoryThatIsRemovedIsMadeAgain) {
  publish();
  fs::remove_all(tree());
  vms[0].package += 5'000'000;
  publish();
  publish();
  EXPECT_EQ(read("intel-rapl:0/name"), "package-0\n");
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "12000000\n");
}

TEST_F(GuestTreesTest, WhatAGuestWritesIntoItsCounterIsNotBelieved) {
  publish();
  start({"all"});
  for (const std::string text : {"9223372036854775807\n", "99999999999999\n", "-5\n", "x", ""}) {
    fs::remove(tree() / "intel-rapl:0/energy_uj");
    std::ofstream(tree() / "intel-rapl:0/energy_uj") << text;
    start({"all"});
    publish();
    EXPECT_EQ(read("intel-rapl:0/energy_uj"), "7000000\n") << text;
  }
}

TEST_F(GuestTreesTest, CleaningUpIsBoundedAndEnds) {
  publish();
  for (int i = 0; i < 1200; ++i) std::ofstream(tree() / ("file" + std::to_string(i))) << "x";
  std::string deep = tree();
  for (int i = 0; i < 300; ++i) {
    deep += "/d";
    fs::create_directory(deep);
  }
  fs::create_directory_symlink(base, tree() / "out");
  ASSERT_EQ(::mkfifo((tree() / "fifo").c_str(), 0600), 0);
  vms[0].running = false;
  publish();
  EXPECT_GT(names(tree()).size(), 500U) << "not all of it at once";
  for (int i = 0; i < 8; ++i) publish();
  EXPECT_FALSE(fs::exists(tree()));
  EXPECT_TRUE(fs::exists(base / "guests")) << "no link was followed";
  EXPECT_THAT(complaints, IsEmpty());
}

// --- end to end: a host writes, and keplerd in the guest reads and divides it again

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
