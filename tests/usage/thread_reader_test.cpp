// SPDX-License-Identifier: Apache-2.0
#include "usage/thread_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class Threads : public testing::Test {
 protected:
  void set(int tid, const std::string& comm, const std::string& schedstat) {
    const std::string path = "proc/10/task/" + std::to_string(tid);
    fake_.write(path + "/comm", comm + "\n");
    fake_.write(path + "/schedstat", schedstat);
  }
  std::vector<std::pair<std::string, std::int64_t>> read() {
    std::vector<PartUsage> parts;
    reader_.read({10, 7}, parts);
    std::vector<std::pair<std::string, std::int64_t>> reported;
    for (const PartUsage& part : parts) {
      EXPECT_EQ(part.process, (ProcessId{10, 7}));
      EXPECT_EQ(part.group, kNoGroup);
      reported.emplace_back(part.name, part.time.count());
    }
    std::ranges::sort(reported);
    return reported;
  }

  FakeHost fake_;
  HostRoot host_ = fake_.open();
  ThreadReader reader_{host_};
};

using testing::ElementsAre;
using testing::Pair;

TEST_F(Threads, HaveTheTimeUsedSinceThePreviousRead) {
  set(10, "qemu-system-x86", "1000 5 1\n");
  set(11, "CPU 0/KVM", "5000 5 1\n");
  EXPECT_THAT(read(), ElementsAre(Pair("CPU 0/KVM", 0), Pair("qemu-system-x86", 0)));
  set(11, "CPU 0/KVM", "5700 5 2\n");
  EXPECT_THAT(read(), ElementsAre(Pair("CPU 0/KVM", 700), Pair("qemu-system-x86", 0)));
}

TEST_F(Threads, ThatAreBornSinceHaveUsedAllTheirTime) {
  set(10, "qemu-system-x86", "1000 5 1\n");
  read();
  set(12, "worker", "300 0 1\n");
  EXPECT_THAT(read(), ElementsAre(Pair("qemu-system-x86", 0), Pair("worker", 300)));
}

TEST_F(Threads, ThatEndedAreNoLongerReported) {
  set(10, "qemu-system-x86", "1000 5 1\n");
  set(12, "worker", "300 0 1\n");
  read();
  fake_.remove("proc/10/task/12");
  EXPECT_THAT(read(), ElementsAre(Pair("qemu-system-x86", 0)));
}

TEST_F(Threads, WithNamesThatAreHostileAreEscaped) {
  set(10, "a\x1b[31m", "1 0 0\n");
  EXPECT_THAT(read(), ElementsAre(Pair("a\\x1b[31m", 0)));
}

TEST_F(Threads, WithUnreadableOrInvalidFilesAreSkipped) {
  set(10, "main", "not a number\n");
  set(11, "main", "-5 0 0\n");
  set(12, "main", "");
  fake_.write("proc/10/task/13/comm", "main\n");
  EXPECT_TRUE(read().empty());
}

TEST_F(Threads, OfAProcessThatIsGoneAreNone) { EXPECT_TRUE(read().empty()); }

TEST_F(Threads, AClockThatStepsBackCountsNothing) {
  set(10, "main", "1000 0 0\n");
  read();
  set(10, "main", "400 0 0\n");
  EXPECT_THAT(read(), ElementsAre(Pair("main", 0)));
}

TEST_F(Threads, OfAnEndedProcessAreForgotten) {
  set(10, "main", "1000 0 0\n");
  read();
  reader_.forget({{10, 7}});
  set(10, "main", "9000 0 0\n");
  EXPECT_THAT(read(), ElementsAre(Pair("main", 0)));
}

}  // namespace
}  // namespace keplerd
