// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/capture.h"

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/doctor/facts.h"
#include "cli/fake_daemon.h"
#include "support/captured_host.h"
#include "support/fake_hwmon.h"
#include "support/fake_perf.h"

namespace keplerd::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;

std::string text_of(const Capture& capture) { return capture_json(capture).dump(); }

class Captured : public testing::Test {
 protected:
  Captured() {
    host_.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0", .energy = 7});
    add_hwmon(host_, 0, "i915", "pci/0000:03:00.0", {{"energy1_input", "5"}});
    FakePerf::add_pmu(host_, "0");
    FakePerf::add_event(host_, "energy-pkg", FakePerf::kPackage);
    FakePerf::add_cpu(host_, 0, 0);
    host_.add_cgroup("/a.slice/b.service", 12);
    host_.add_process({.pid = 10, .comm = "secret", .cmdline = std::string("--password=secret")});
  }
  Capture take() const { return capture_host(host_.open()); }

  FakeHost host_;
};

TEST_F(Captured, HoldsTheFilesOfMetersAndGroups) {
  const Capture capture = take();
  EXPECT_THAT(capture.files, Contains(Pair("sys/class/powercap/intel-rapl:0/energy_uj", "7\n")));
  EXPECT_THAT(capture.files,
              Contains(Pair("sys/bus/event_source/devices/power/events/energy-pkg.unit", "Joules\n")));
  EXPECT_THAT(capture.files, Contains(Key("sys/devices/system/cpu/cpu0/topology/die_id")));
  EXPECT_THAT(capture.files, Contains(Key("cgroup/a.slice/b.service/cpu.stat")));
  EXPECT_THAT(capture.files, Contains(Key("sys/class/hwmon/hwmon0/device/power/runtime_status")));
  EXPECT_THAT(capture.links,
              Contains(Pair("sys/class/hwmon/hwmon0/device", "../../../devices/pci/0000:03:00.0")));
  EXPECT_THAT(capture.errors, IsEmpty());
  EXPECT_TRUE(capture.complete);
}

TEST_F(Captured, HoldsNothingThatAProcessWasGivenOrWrote) {
  host_.write("proc/10/environ", "TOKEN=secret");
  host_.write("root/run/libvirt/qemu/vm.xml", "secret");
  EXPECT_THAT(text_of(take()), Not(HasSubstr("secret")));
}

TEST_F(Captured, OfLongFilesOnlyWhatKeplerdLooksAt) {
  host_.write("proc/cpuinfo",
              "processor\t: 0\nmodel name\t: M\n\nprocessor\t: 1\n\nHardware\t: H\nSerial\t\t: 0042\n");
  host_.write("proc/stat", "cpu  1 2 3 4\ncpu0 1 2 3 4\nintr 5\nbtime 1700000000\n");
  host_.write("proc/self/mountinfo",
              "22 28 0:21 / /proc rw - proc proc rw,hidepid=2\n"
              "30 22 0:40 / /home/jane rw - ext4 /dev/sda1 rw\n");
  const Capture capture = take();
  EXPECT_EQ(capture.files.at("proc/cpuinfo"), "processor\t: 0\nmodel name\t: M\n");
  EXPECT_EQ(capture.files.at("proc/stat"), "cpu  1 2 3 4\ncpu0 1 2 3 4\n");
  EXPECT_EQ(capture.files.at("proc/self/mountinfo"), "22 28 0:21 / /proc rw - proc proc rw,hidepid=2\n");
}

TEST_F(Captured, RecordsTheErrorOfAnUnreadableFile) {
  host_.break_energy("intel-rapl:0");
  const Capture capture = take();
  EXPECT_THAT(capture.errors, Contains(Pair("sys/class/powercap/intel-rapl:0/energy_uj", "EISDIR")));
  EXPECT_THAT(capture.files, Not(Contains(Key("sys/class/powercap/intel-rapl:0/energy_uj"))));
}

TEST_F(Captured, IsBounded) {
  for (int i = 0; i < 600; ++i) host_.add_cgroup("/a.slice/u" + std::to_string(i) + ".service");
  const Capture many = take();
  EXPECT_FALSE(many.complete);
  EXPECT_LE(many.files.size(), 1100u);
  host_.write("sys/class/powercap/intel-rapl:0/name", std::string(100'000, 'x'));
  EXPECT_THAT(take().errors, Contains(Pair("sys/class/powercap/intel-rapl:0/name", "EFBIG")));
}

TEST_F(Captured, ReplayedAndCapturedAgainItIsTheSame) {
  host_.break_energy("intel-rapl:0");
  const std::string first = text_of(take());
  FakeHost again;
  lay_out(again, first);
  const auto second = capture_json(capture_host(again.open()));
  const auto expected = Json::parse(first);
  EXPECT_EQ(second.at("files"), expected.at("files"));
  EXPECT_EQ(second.at("errors"), expected.at("errors"));
  EXPECT_EQ(second.at("directories"), expected.at("directories"));
  EXPECT_THAT(second.at("links").at("sys/class/hwmon/hwmon0/device").get<std::string>(),
              testing::EndsWith("/0000:03:00.0"));
}

// The meters, without the location of the files.
std::vector<std::string> meters_of(const HostPaths& paths) {
  std::vector<std::string> reported;
  const auto host = HostRoot::open(paths);
  if (!host) return {host.error().message};
  for (const SourceProbe& probe : probe_sources(*host)) {
    std::string line = probe.name + (probe.usable ? " usable" : " " + probe.reason) + " " + probe.fix;
    const std::string written = paths.sysfs.substr(0, paths.sysfs.size() - std::string("/sys").size());
    for (const std::string& place : {written + "/root", written}) {
      const auto at = line.find(place);
      if (!written.empty() && at != line.npos) line.erase(at, place.size());
    }
    for (const auto& zone : probe.zones) line += " " + zone;
    reported.push_back(line);
  }
  return reported;
}

TEST(CapturedHost, OfThisHostAnswersAsThisHostDoes) {
  const auto host = HostRoot::open({});
  ASSERT_TRUE(host);
  FakeHost replayed;
  lay_out(replayed, text_of(capture_host(*host)));
  auto live = meters_of({});
  auto again = meters_of(replayed.paths());
  ASSERT_EQ(live.size(), again.size());
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (live[i].starts_with("perf usable") || live[i].find("perf_event_open") != std::string::npos) continue;
    EXPECT_EQ(live[i], again[i]) << "a replayed host has no perf events that can be opened";
  }
}

class CaptureProgram : public testing::Test {
 protected:
  CaptureProgram() {
    host_.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0", .energy = 7});
    file_ = host_.paths().root + "/capture.json";
  }
  Outcome run(const std::string& file) {
    const HostPaths paths = host_.paths();
    return run_keplerctl({"doctor", "--sysfs=" + paths.sysfs, "--procfs=" + paths.procfs,
                          "--cgroupfs=" + *paths.cgroupfs, "--capture=" + file});
  }
  FakeHost host_;
  std::string file_;
};

TEST_F(CaptureProgram, WritesANewFileForItsOwnerAlone) {
  const Outcome outcome = run(file_);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(" files of this host are in " + file_ + ", 0 could not be read\n"));
  struct stat status {};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  std::ifstream file(file_);
  EXPECT_EQ(Json::parse(file).at("format"), "keplerd-capture-1");
  const Outcome again = run(file_);
  EXPECT_EQ(again.status, 1) << "it writes over nothing";
  EXPECT_THAT(again.err, HasSubstr("File exists"));
}

TEST_F(CaptureProgram, WritesToTheOutputOnRequest) {
  const Outcome outcome = run("-");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(Json::parse(outcome.out).at("files").at("sys/class/powercap/intel-rapl:0/energy_uj"), "7\n");
}

}  // namespace
}  // namespace keplerd::cli
