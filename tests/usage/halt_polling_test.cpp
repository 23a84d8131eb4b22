// SPDX-License-Identifier: Apache-2.0
#include "usage/halt_polling.h"

#include <chrono>

#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class HaltPollingTest : public testing::Test {
 protected:
  void write(const std::string& directory, const char* success, const char* fail) {
    files.write("sys/kernel/debug/kvm/" + directory + "/halt_poll_success_ns", success);
    files.write("sys/kernel/debug/kvm/" + directory + "/halt_poll_fail_ns", fail);
    polling.refresh();
  }

  FakeHost files;
  HostRoot host = files.open();
  HaltPolling polling{host};
};

TEST_F(HaltPollingTest, IsTheTimeOfPollsThatPaidAndOfThoseThatDidNot) {
  write("100-11", "300\n", "20\n");
  EXPECT_EQ(polling.read(100), 320ns);
  EXPECT_EQ(polling.read(10), std::nullopt);
}

TEST_F(HaltPollingTest, OfSeveralMachinesOfAProcessIsTheirSum) {
  write("100-11", "300\n", "20\n");
  write("100-12", "1\n", "2\n");
  EXPECT_EQ(polling.read(100), 323ns);
}

TEST_F(HaltPollingTest, IsUnknownIfTheKernelDoesNotReportIt) {
  polling.refresh();
  EXPECT_EQ(polling.read(100), std::nullopt);
  write("100-11", "300\n", "none\n");
  EXPECT_EQ(polling.read(100), std::nullopt);
  write("100-11", "300\n", "-1\n");
  EXPECT_EQ(polling.read(100), std::nullopt);
  write("vm-11", "300\n", "1\n");
  EXPECT_EQ(polling.read(100), std::nullopt);
}

}  // namespace
}  // namespace keplerd
