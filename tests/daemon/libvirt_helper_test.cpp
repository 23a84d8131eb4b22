// SPDX-License-Identifier: Apache-2.0
// keplerd-libvirt: when it is started and killed, and what it reports. The real one is tested on the booted
// host; here shell scripts take its place.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "daemon/clock.h"
#include "daemon/libvirt/helper.h"
#include "support/fake_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using Action = HelperPolicy::Action;

constexpr char kGuestUuid[] = "2b9a43a1-5a5f-4cf0-9d3a-6a6f3a1d2c01";

TEST(HelperPolicy, StartsItOnlyWhereItIsWanted) {
  HelperPolicy policy;
  EXPECT_EQ(policy.decide(false, 0s), Action::kNone);
  EXPECT_EQ(policy.decide(true, 0s), Action::kStart);
  policy.started(0s);
  EXPECT_EQ(policy.decide(true, 1s), Action::kNone);
  EXPECT_EQ(policy.decide(false, 1s), Action::kKill);
}

TEST(HelperPolicy, KillsOneThatSaysNothingForFifteenSeconds) {
  HelperPolicy policy;
  policy.started(0s);
  EXPECT_EQ(policy.decide(true, 15s), Action::kNone);
  policy.heard(10s);
  EXPECT_EQ(policy.decide(true, 25s), Action::kNone);
  EXPECT_EQ(policy.decide(true, 25s + 1ns), Action::kKill);
}

TEST(HelperPolicy, PausesLongerEachTimeAndAMinuteAtMost) {
  HelperPolicy policy;
  Nanoseconds now = 0s;
  for (const Nanoseconds pause : {2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
    policy.started(now);
    policy.ended(now);
    EXPECT_EQ(policy.decide(true, now + pause - 1ns), Action::kNone) << pause.count();
    now += pause;
    EXPECT_EQ(policy.decide(true, now), Action::kStart) << pause.count();
  }
  policy.started(now);
  policy.ended(now + 60s);  // it worked for a minute
  EXPECT_EQ(policy.decide(true, now + 62s), Action::kStart);
}

TEST(LibvirtUpdate, AreReadAsTheyAreWritten) {
  const LibvirtUpdate domain{.kind = LibvirtUpdate::Kind::kDomain,
                             .driver = "xen",
                             .id = 7,
                             .uuid = kGuestUuid,
                             .name = "web",
                             .title = "Shop",
                             .state = "running",
                             .reason = ""};
  const auto read = parse_update(format_update(domain));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->kind, LibvirtUpdate::Kind::kDomain);
  EXPECT_EQ(std::tie(read->driver, read->id, read->uuid, read->name, read->title, read->state),
            std::tie(domain.driver, domain.id, domain.uuid, domain.name, domain.title, domain.state));
  EXPECT_EQ(parse_update(format_update({}))->kind, LibvirtUpdate::Kind::kAlive);
  const auto ended = parse_update(format_update(
      {.kind = LibvirtUpdate::Kind::kEnded, .driver = "qemu", .uuid = kGuestUuid, .reason = "migrated"}));
  EXPECT_EQ(ended->kind, LibvirtUpdate::Kind::kEnded);
  EXPECT_EQ(ended->reason, "migrated");
}

TEST(LibvirtUpdate, OfWhateverElseThereAreNone) {
  for (const char* const line :
       {"", "{", "[]", "1", "{}", R"({"alive":false})", R"({"domain":1})", R"({"ended":{"uuid":"x"}})",
        R"({"other":{"uuid":"2b9a43a1-5a5f-4cf0-9d3a-6a6f3a1d2c01"}})"})
    EXPECT_FALSE(parse_update(line)) << line;
}

TEST(LibvirtUpdate, AreEscaped) {
  const auto notice =
      parse_update(R"({"ended":{"uuid":"2b9a43a1-5a5f-4cf0-9d3a-6a6f3a1d2c01","reason":"a\u001b"}})");
  EXPECT_EQ(notice->reason, "a\\x1b");
}

TEST(RunningDrivers, AreThoseWithALiveDaemon) {
  FakeHost files;
  const HostRoot host = files.open();
  EXPECT_TRUE(running_drivers(host, {"qemu", "xen"}).empty());
  files.write("root/run/libvirtd.pid", "70\n");
  EXPECT_TRUE(running_drivers(host, {"qemu"}).empty());  // left by a daemon that was killed
  files.write("proc/70/comm", "bash\n");
  EXPECT_TRUE(running_drivers(host, {"qemu"}).empty());  // its pid now belongs to another process
  files.write("proc/70/comm", "libvirtd\n");
  EXPECT_EQ(running_drivers(host, {"qemu", "xen"}), (std::vector<std::string>{"qemu", "xen"}));
  files.write("root/run/libvirtd.pid", "none\n");
  files.write("root/run/virtxend.pid", "71");
  files.write("proc/71/comm", "virtxend\n");
  EXPECT_EQ(running_drivers(host, {"qemu", "xen"}), (std::vector<std::string>{"xen"}));
}

class LibvirtHelperTest : public testing::Test {
 protected:
  LibvirtHelperTest() { sd_event_new(&loop); }
  ~LibvirtHelperTest() override { sd_event_unref(loop); }

  // Uses this script as the helper.
  std::function<std::string()> program(const std::string& script) {
    const std::string path = files.paths().root + "/helper";
    files.write("root/helper", "#!/bin/sh\n" + script);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return [path] { return path; };
  }
  // Until this many updates have arrived, or the loop has been idle for ten seconds.
  void run_until(std::size_t count) {
    while (notice.size() < count && sd_event_run(loop, 10'000'000) > 0) {
    }
  }

  FakeHost files;
  sd_event* loop = nullptr;
  std::vector<std::string> notice;
  std::function<void(const LibvirtUpdate&)> heard = [this](const LibvirtUpdate& line) {
    notice.push_back(line.kind == LibvirtUpdate::Kind::kAlive ? "alive" : line.name + line.reason);
  };
};

TEST_F(LibvirtHelperTest, ReadsLinesAndKillsItWhenNotNeeded) {
  LibvirtHelper helper(
      loop,
      program("printf '{\"alive\":true}\\n{\"ended\":{\"uuid\":\"%s\",\"reason\":\"saved\"}}\\n' "
              "2b9a43a1-5a5f-4cf0-9d3a-6a6f3a1d2c01; echo $1 $$ >\"$0.pid\"; exec sleep 1000"),
      heard);
  helper.update({"qemu"}, 0s);
  run_until(2);
  EXPECT_EQ(notice, (std::vector<std::string>{"alive", "saved"}));
  EXPECT_TRUE(helper.is_connected());
  helper.update({}, 1s);
  EXPECT_FALSE(helper.is_connected());
}

TEST_F(LibvirtHelperTest, OneThatHangsIsReplacedAfterAPause) {
  LibvirtHelper helper(loop, program("echo '{\"alive\":true}'; exec sleep 1000"), heard);
  const Nanoseconds now = read_system_clocks().monotonic;
  helper.update({"qemu"}, now);
  run_until(1);
  helper.update({"qemu"}, now + 1h);  // it hangs
  EXPECT_FALSE(helper.is_connected());
  helper.update({"qemu"}, now + 1h + 1s);
  helper.update({"qemu"}, now + 1h + 3s);
  run_until(2);
  EXPECT_EQ(notice.size(), 2u);
}

TEST_F(LibvirtHelperTest, ALineWithoutEndIsItsEnd) {
  LibvirtHelper helper(loop, program("echo '{\"alive\":true}'; exec cat /dev/zero"), heard);
  helper.update({"qemu"}, 0s);
  run_until(1);
  while (helper.is_connected() && sd_event_run(loop, 10'000'000) > 0) {
  }
  EXPECT_FALSE(helper.is_connected());
}

TEST_F(LibvirtHelperTest, OneThatIsInstalledLaterIsStartedThen) {
  std::function<std::string()> find = [] { return ""; };
  LibvirtHelper helper(
      loop, [&find] { return find(); }, heard);
  helper.update({"qemu"}, 0s);
  EXPECT_FALSE(helper.is_installed());
  find = program("echo '{\"alive\":true}'; exec sleep 1000");
  helper.update({"qemu"}, 1s);
  EXPECT_TRUE(helper.is_installed());
  run_until(1);
  EXPECT_TRUE(helper.is_connected());
}

}  // namespace
}  // namespace keplerd
