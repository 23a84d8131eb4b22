// SPDX-License-Identifier: Apache-2.0
// libvirt's records of running VMs, as they appear, change and disappear.
#include "workloads/libvirt_records.h"

#include <chrono>
#include <filesystem>

#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr char kUuid[] = "2b9a43a1-5a5f-4cf0-9d3a-6a6f3a1d2c01";

std::string status(const std::string& name, int pid, const std::string& state = "running") {
  return "<domstatus state='" + state + "' pid='" + std::to_string(pid) + "'><domain><name>" + name +
         "</name><uuid>" + kUuid + "</uuid></domain></domstatus>";
}

class LibvirtRecordsTest : public testing::Test {
 protected:
  // As libvirt writes it: a temporary file, then renamed.
  void write(const std::string& name, const std::string& text) {
    host.write(kDirectory + name + ".xml.new", text);
    fs::rename(place(name + ".xml.new"), place(name + ".xml"));
  }
  void remove(const std::string& name) { fs::remove(place(name + ".xml")); }
  fs::path place(const std::string& file) const {
    return fs::path(host.paths().root) / "run/libvirt/qemu" / file;
  }
  std::string name_at(Nanoseconds now, int pid = 7) {
    records.refresh(now);
    const auto found = records.find(pid, {});
    return found ? found->name : "";
  }

  const std::string kDirectory = "root/run/libvirt/qemu/";
  FakeHost host;
  HostRoot root = *HostRoot::open(host.paths());
  LibvirtRecords records{root, LibvirtRecords::kQemu};
};

TEST_F(LibvirtRecordsTest, AreThereWithTheirDirectory) {
  EXPECT_EQ(name_at(0s), "");
  write("web", status("web", 7));
  EXPECT_EQ(name_at(900ms), "");  // the directory is checked once a second
  EXPECT_EQ(name_at(1s), "web");
}

TEST_F(LibvirtRecordsTest, DirectoryIsLookedForEveryTenSecondsIfNoRecordIsExpected) {
  records.refresh(0s, false);
  write("web", status("web", 7));
  records.refresh(9s, false);
  EXPECT_EQ(records.find(7, {}), nullptr);
  records.refresh(10s, false);
  EXPECT_NE(records.find(7, {}), nullptr);
}

TEST_F(LibvirtRecordsTest, AreReadAtOnceWhenTheyChange) {
  write("web", status("web", 7));
  EXPECT_EQ(name_at(0s), "web");
  write("web", status("renamed", 7));
  EXPECT_EQ(name_at(10ms), "renamed");
  remove("web");
  EXPECT_EQ(name_at(20ms), "");
}

TEST_F(LibvirtRecordsTest, AreTheSameObjectWhileNothingChanges) {
  write("web", status("web", 7));
  records.refresh(0s);
  const auto before = records.find(7, {});
  write("web", status("web", 7));
  records.refresh(10ms);
  EXPECT_EQ(records.find(7, {}), before);
  records.refresh(10s);
  EXPECT_EQ(records.find(7, {}), before);
}

TEST_F(LibvirtRecordsTest, OfAnotherProcessAreStale) {
  write("web", status("web", 7));
  EXPECT_EQ(name_at(0s, 8), "");
}

TEST_F(LibvirtRecordsTest, BrokenFilesAreIgnored) {
  write("web", status("web", 7));
  EXPECT_EQ(name_at(0s), "web");
  write("web", "<domstatus");
  EXPECT_EQ(name_at(10ms), "");
  write("huge", std::string(5 << 20, ' '));
  host.write(kDirectory + "notes.txt", status("notes", 7));
  EXPECT_EQ(name_at(20ms), "");
}

TEST_F(LibvirtRecordsTest, OfADirectoryThatIsMadeAnewAreFoundInTenSeconds) {
  write("old", status("old", 7));
  EXPECT_EQ(name_at(0s), "old");
  host.remove(kDirectory);
  write("web", status("web", 7));
  EXPECT_EQ(name_at(10s), "web");
  write("web", status("renamed", 7));
  EXPECT_EQ(name_at(10s + 10ms), "renamed");
}

}  // namespace
}  // namespace keplerd
