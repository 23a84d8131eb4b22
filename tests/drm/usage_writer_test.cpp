// SPDX-License-Identifier: Apache-2.0
// What is written is what keplerd reads.
#include "meters/usage_writer.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "support/fake_host.h"
#include "usage/usage_file.h"

namespace keplerd::meters {
namespace {

using namespace std::chrono_literals;

constexpr char kCard[] = "0000:03:00.0";

TEST(DeviceUses, AreKeptForAMinuteAfterAProcessHasEnded) {
  DeviceUses uses;
  uses.begin(1s, {{10, 1}, {20, 1}});
  uses.add(kCard, {10, 1}, 5ns);
  uses.add(kCard, {20, 1}, 6ns);
  uses.begin(61s, {{20, 1}});
  EXPECT_EQ(uses.text(kCard), "61000000\n10 1 5\n20 1 6\n");
  uses.begin(62s, {{20, 1}});
  EXPECT_EQ(uses.text(kCard), "62000000\n20 1 6\n");
  EXPECT_EQ(uses.text("0000:04:00.0"), "62000000\n");
}

TEST(DeviceUses, AreThoseOfTheProcessesThatUsedItLast) {
  DeviceUses uses;
  std::set<ProcessId> running;
  for (int pid = 1; pid <= 3000; ++pid) running.insert({pid, 1});
  for (int second = 1; second <= 3; ++second) {
    uses.begin(std::chrono::seconds(second), running);
    for (int pid = (second - 1) * 1000 + 1; pid <= second * 1000; ++pid) uses.add(kCard, {pid, 1}, 1ns);
  }
  const auto reading = parse_usage_file(uses.text(kCard));
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(reading->busy.size(), kMostUsers);
  for (int pid = 2001; pid <= 3000; ++pid) EXPECT_TRUE(reading->busy.contains({pid, 1}));
}

TEST(WriteUsage, ReplacesAndRemovesFiles) {
  const FakeHost host;
  const std::string directory = host.paths().root + "/usage";
  ASSERT_TRUE(write_usage(directory, {{kCard, "1\n"}, {"0000:04:00.0", "1\n"}}));
  ASSERT_TRUE(write_usage(directory, {{kCard, "2\n"}}));
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) ++count;
  EXPECT_EQ(count, 1);
  EXPECT_EQ(std::filesystem::file_size(directory + "/" + kCard), 2U);
  EXPECT_FALSE(write_usage(directory + "/" + kCard, {{kCard, "2\n"}})) << "it is a file";
}

}  // namespace
}  // namespace keplerd::meters
